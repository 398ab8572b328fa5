/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Place } from "../nav.ts";
import { Code } from "./shown.tsx";
import { useViewer } from "./visit.ts";

/** Where the page of an object is, by the beginning of its id. */
const pages: Readonly<Record<string, readonly [place: Place, path: string]>> = {
  pi: ["payments", "payments"],
  clr: ["payments", "payments"],
  re: ["payments", "payments"], // leads on to its payment
  plink: ["links", "links"],
  inv: ["invoices", "invoices"],
  sub: ["subscriptions", "subscriptions"],
  prod: ["products", "products"],
  cus: ["customers", "customers"],
  x402r: ["resources", "resources"],
  po: ["balances", "balances/payouts"],
  whe: ["webhooks", "webhooks"],
  evt: ["events", "events"],
};

/** An id, and the way to the page of what it names. */
export function ObjectLink({ id }: { readonly id: string }) {
  const { places } = useViewer();
  const [place, path] = pages[id.slice(0, id.indexOf("_"))] ?? [];
  if (place === undefined || !places.includes(place)) return <Code>{id}</Code>;
  return (
    <a href={`/dashboard/${path}/${encodeURIComponent(id)}`}>
      <code>{id}</code>
    </a>
  );
}

/** What programs read, to be read by a person too. */
export function Json({ of }: { readonly of: unknown }) {
  return <pre tabindex={0}>{JSON.stringify(of, null, 2)}</pre>;
}

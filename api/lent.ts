import { isId } from "#kernel/id";
import type { ApiDeps } from "./deps.ts";
import { fullness } from "./desks.ts";
import { deriveIntent as deriveInvoiceIntent } from "./invoice/verbs/derive.ts";
import type { InvoiceDesk } from "./invoice/verbs/desk.ts";
import type { Making } from "./payment-intent/verbs/create.ts";
import type { CheckoutDesk } from "./payment-link/verbs/checkout.ts";
import { type AgentVisit, deriveIntent } from "./payment-link/verbs/derive.ts";
import type { QuoteInput } from "./quote/schema.ts";
import { quote } from "./quote/verbs.ts";
import type { Pricing } from "./rate/verbs.ts";
import { type Meant, meantBy } from "./x402/meant.ts";

/** Quotes for a room that must not know this one: it is handed to MCP where the house is composed. */
export function quoter(pricing: Pick<Pricing, "rates" | "facilitator">) {
  return (input: QuoteInput) => quote(pricing, { input });
}

/** Intents of what agents are not offered directly, for the same room. Null for what has none. */
export function intentDeriver(
  parts: CheckoutDesk & Omit<InvoiceDesk, "isFull"> & Making & Pick<ApiDeps, "facilitator">,
) {
  const desk = { ...parts, isFull: fullness(parts.now) };
  return async ({
    id,
    payment,
    ...visitor
  }: Omit<AgentVisit, "ctx" | keyof Meant> & { payment: unknown }) => {
    const meant = await meantBy(desk.facilitator, payment);
    if (meant.bound === id) return null;
    if (isId("plink", id)) return deriveIntent(desk, { ...visitor, ...meant, id, ctx: desk });
    return isId("inv", id) ? deriveInvoiceIntent(desk, { ...meant, id }) : null;
  };
}

/** An invoice to pay, and agents who pay by URL. */
import type { Resource } from "../../support/house.ts";
import { newPayer, signPayment } from "../../support/house.ts";
import type { PaymentPlace, Seller } from "../../support/payments.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers off the wire, compared whole by the tests
export type Body = any;

export const draft = (over: Record<string, unknown> = {}) => ({
  buyer: { name: "Ada Buyer", email: "ada@buyer.example", taxId: "PT123", address: "1 Rua Secreta\nPorto" },
  currency: "USD",
  lines: [
    { name: "Design", unitPrice: { amount: "4.00", asset: "USD" }, quantity: 2 },
    { name: "Hosting", unitPrice: { amount: "2.00", asset: "USD" } },
  ],
  ...over,
});

/** An issued invoice of 10 dollars. */
export function issued(seller: Seller, over: Record<string, unknown> = {}): Promise<Body> {
  return seller.must("POST", "/v1/invoices", draft({ issue: true, ...over }));
}

export function read(seller: Seller, id: string): Promise<Body> {
  return seller.must("GET", `/v1/invoices/${id}`);
}

/** What the agent URL of a payable asks for, as if it were a resource. */
export async function offerOf(
  place: PaymentPlace,
  id: string,
): Promise<Resource & { readonly amount: bigint }> {
  const url = `${place.baseUrl}/x402/payables/${id}`;
  const visit = await fetch(url);
  const header = visit.headers.get("PAYMENT-REQUIRED");
  if (visit.status !== 402 || !header) throw new Error(`${url}: ${visit.status} ${await visit.text()}`);
  const { accepts } = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
  const usdc = accepts.find(({ asset }: { asset: string }) => asset.toLowerCase() === place.dev.usdc);
  return {
    id,
    url,
    maxTimeoutSeconds: usdc.maxTimeoutSeconds,
    accepts: accepts.map((option: Body) => ({
      asset: "USDC",
      contract: option.asset,
      payTo: option.payTo,
      domain: option.extra,
    })),
    amount: BigInt(usdc.amount),
  };
}

/** A signed payment of a payable by a payer with just that money, and how to send it. */
export async function agentFor(place: PaymentPlace, id: string) {
  const offer = await offerOf(place, id);
  const payer = await newPayer(place.dev, offer.amount);
  const { body } = await signPayment(place.dev, payer, offer, { amount: offer.amount });
  body.paymentRequirements.amount = `${offer.amount}`; // the accepted option is the same object
  const header = Buffer.from(JSON.stringify(body.paymentPayload)).toString("base64");
  return {
    payer,
    offer,
    header,
    async send(): Promise<{ readonly status: number; readonly body: Body }> {
      const response = await fetch(offer.url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
      return { status: response.status, body: await response.json() };
    },
  };
}

/** A keyless checkout: its status and intent. */
export async function checkout(
  place: PaymentPlace,
  id: string,
  body: unknown = {},
  key = `k-${Math.random()}`,
) {
  const response = await fetch(`${place.baseUrl}/v1/invoices/${id}/checkout`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Facts about these, in their order. */
export async function factsOf(
  { database }: PaymentPlace,
  ...ids: readonly string[]
): Promise<readonly string[]> {
  const rows = await database.query<{ type: string }>(
    "SELECT type FROM outbox WHERE subject = ANY($1) ORDER BY sequence",
    [ids],
  );
  return rows.map(({ type }) => type);
}

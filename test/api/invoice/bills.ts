/** An invoice to pay, and what is read and told of it. */
import type { TestDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
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

/** Waits for it, and reads it then. */
export async function becomes(seller: Seller, id: string, state: string): Promise<Body> {
  await until(async () => (await read(seller, id)).state === state, `${id} is ${state}`);
  return read(seller, id);
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

/** An intent for it that waits for a deposit, or for what `body` asks. */
export async function deposit(place: PaymentPlace, seller: Seller, id: string, body: unknown = {}) {
  const { body: intent } = await checkout(place, id, body);
  return seller.confirm(intent.id);
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

/** As its payment leaves it, where no chain is at hand. */
export async function markPaid({ query }: Pick<TestDatabase, "query">, id: string): Promise<void> {
  await query(
    `UPDATE invoice SET state = 'paid', paid_at = issued_at, collected = total, paid = total, remind_at = NULL
     WHERE id = $1`,
    [id],
  );
}

/** Something is told of such an invoice's payment, which is there no more. */
export async function reverse({ query }: Pick<TestDatabase, "query">, id: string, at: Date): Promise<void> {
  await query(
    `INSERT INTO invoice_news (fact_id, merchant_id, invoice_id, heard_at)
     SELECT 'evt_' || id, merchant_id, id, $2 FROM invoice WHERE id = $1`,
    [id, at],
  );
}

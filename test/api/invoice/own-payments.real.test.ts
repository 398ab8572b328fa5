/** Which payments are an invoice's: those that were made for it, not those that its merchant noted its id on. */
import { beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { freshBilling, newBiller } from "../subscription/billing.ts";
import { newId } from "../world.ts";
import { type Body, draft, reverse } from "./bills.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database, "2026-08-11T09:30:00.000Z");
let merchant: Awaited<ReturnType<typeof newBiller>>;
let invoice: Body;
let payment: Body;
beforeEach(async () => {
  merchant = await newBiller(database, house);
  invoice = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
  payment = await newPayment();
});

const newPayment = (): Promise<Body> =>
  merchant.must("POST", "/v1/payment-intents", {
    amount: { amount: "10.00", asset: "USD" },
    metadata: { invoiceId: invoice.id },
  });
/** From now on what names the invoice is a payment of it. */
const adopt = () =>
  database.query("UPDATE payment_intent SET source = 'invoice' WHERE metadata->>'invoiceId' = $1", [
    invoice.id,
  ]);

/** Whether the invoice is looked at once something is told of the payment. */
async function isLookedAt(type: string): Promise<boolean> {
  const [id, { merchantId }] = [newId("evt"), merchant];
  const payload = { paymentIntentId: payment.id };
  const fact = { id, type, subject: newId("clr"), merchantId, payload, sequence: 1 };
  await database.db.tx(async (tx) => {
    for (const hear of house.hearers) await hear(tx, [fact]);
  });
  return (await database.query("SELECT 1 FROM invoice_news WHERE fact_id = $1", [id])).length > 0;
}

/** The payment as it is once its 10 dollars have come. */
async function complete(): Promise<void> {
  const clearing = newId("clr");
  await database.query(
    `INSERT INTO clearing (merchant_id, id, intent_id, state, provider, execution_path, chain, asset, source_amount,
       settlement_amount, fee, fee_bps, tolerance_bps, rate_from, rate_to, scaled_rate, rate_source, rate_locked_at,
       expires_at, sequence, created_at, updated_at)
     SELECT merchant_id, $2, id, 'settled', 'evm', 'deposit-match', 'base', 'USDC', 10000000, 10000000, 0, 0, 0, 'USD',
       'USDC', 1e18, 'parity', $3, $3, 1, $3, $3 FROM payment_intent WHERE id = $1`,
    [payment.id, clearing, time.now()],
  );
  await database.query(
    `UPDATE payment_intent SET status = 'completed', clearing_state = 'settled', clearing_id = $2, completed_at = $3,
       execution_path = 'deposit-match' WHERE id = $1`,
    [payment.id, clearing, time.now()],
  );
}

const read = () => merchant.must("GET", `/v1/invoices/${invoice.id}`);

describe("a payment that was made for an invoice", () => {
  it("is looked at whenever something is told that may change what was paid", async () => {
    await adopt();
    for (const type of [
      ...["payment.completed", "payment.reversed", "payment.funds_detected", "payment.review_required"],
      ...["refund.created", "refund.failed", "refund.cancelled"],
    ])
      expect([type, await isLookedAt(type)]).toEqual([type, true]);
    expect(await isLookedAt("payment.created")).toBe(false);
  });

  it("pays it", async () => {
    await adopt();
    await complete();
    await reverse(database, invoice.id, time.now());
    await house.settle();
    expect(await read()).toMatchObject({ state: "paid", paid: { amount: "10.00" } });
  });
});

describe("of two payments that were made for an invoice", () => {
  it("neither is called off while both wait; one is once the other has paid", async () => {
    const other = await newPayment();
    await adopt();
    const told = async () => {
      await reverse(database, invoice.id, time.now());
      await house.rest("invoices");
      const { status } = await merchant.must("GET", `/v1/payment-intents/${other.id}`);
      return status;
    };
    expect(await told()).toBe("created");
    await complete();
    expect(await told()).toBe("cancelled");
  });
});

describe("a payment of the merchant's own that names an invoice", () => {
  it("does not pay it", async () => {
    await complete();
    expect(await isLookedAt("payment.completed")).toBe(false);
    await reverse(database, invoice.id, time.now());
    await house.settle();
    expect(await read()).toMatchObject({ state: "open", paid: { amount: "0.00" } });
  });

  it("is not called off with it", async () => {
    await merchant.must("POST", `/v1/invoices/${invoice.id}/void`);
    expect(await merchant.must("GET", `/v1/payment-intents/${payment.id}`)).toMatchObject({
      status: "created",
    });
  });
});

import { describe, expect, it } from "vitest";
import type { Offer, SettleAnswer } from "#facilitator";
import {
  authorization,
  fakeFacilitator,
  paymentId,
  quote,
  requirements,
  settledAnswer,
  txHash,
  v1Body,
  v2Body,
  world,
} from "../world.ts";

const id = "inv_01K2C0Z0000000000000000000";
const path = `/x402/payables/${id}`;
const [usdc] = quote.options;
if (!usdc) throw new Error("the quote offers nothing");
/** A second token on the same network, which v1 could not tell from the first. */
const usdg = { ...usdc, symbol: "USDG", asset: usdc.payTo };
const offer: Offer = {
  payable: { ...quote.payable, id, kind: "invoice", url: `https://pay.example${path}`, once: true },
  options: [usdc, usdg],
  everywhere: [usdc, usdg],
  state: "open",
  paymentId: null,
};

function open(changes: { offers?: readonly Offer[]; answer?: Partial<SettleAnswer> } = {}) {
  const { offers = [offer], answer = {} } = changes;
  let visits = 0;
  const facilitator = fakeFacilitator({
    offer: async () => {
      visits += 1;
      return offers[Math.min(visits, offers.length) - 1] ?? null;
    },
  });
  facilitator.settlement = async () => ({ ...settledAnswer, ...answer });
  const { app } = world({ facilitator });
  const visit = async (headers: Record<string, string> = {}) => {
    const response = await app.request(path, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { visit, facilitator };
}

const header = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const read = (text: string | null) => JSON.parse(Buffer.from(text ?? "", "base64").toString());
const v1 = { "x-payment": header(v1Body.paymentPayload) };
const v2 = { "payment-signature": header(v2Body.paymentPayload) };

describe("a chain with a name in version 1", () => {
  it("gets the pure v1 object in the body of the 402, one option a network", async () => {
    const { status, body, headers } = await open().visit();
    expect(status).toBe(402);
    expect(body).toEqual({
      x402Version: 1,
      // Python's client of version 1 reads no 402 without it.
      error: "Payment required",
      accepts: [
        {
          scheme: "exact",
          network: "base",
          maxAmountRequired: "10000",
          resource: offer.payable.url,
          description: "The weather of today",
          mimeType: "application/json",
          payTo: requirements.payTo,
          maxTimeoutSeconds: 300,
          asset: requirements.asset,
          extra: { name: "USD Coin", version: "2" },
        },
      ],
    });
    const required = read(headers.get("payment-required"));
    expect(required).toMatchObject({ error: "Payment required" });
    expect(required.accepts).toHaveLength(2);
  });

  it("takes a v1 payment, which names no asset, for the option that v1 was offered", async () => {
    const { visit, facilitator } = open();
    const { status, headers, body } = await visit(v1);
    expect(status).toBe(200);
    expect(facilitator.asked).toMatchObject([
      {
        target: { by: "id", id },
        selection: { scheme: "exact", network: "eip155:8453", asset: requirements.asset, amount: "10000" },
        payload: { authorization },
      },
    ]);
    expect(read(headers.get("x-payment-response"))).toMatchObject({ success: true, network: "base" });
    expect(headers.get("payment-response")).toBeNull();
    expect(body).toMatchObject({ success: true, paymentId, transaction: txHash });
  });

  it("tells a v1 client a refusal in v1's words", async () => {
    const refused = { outcome: "refused", reason: "invalid_payment_requirements", paymentId: null } as const;
    const { visit } = open({ answer: refused });
    expect((await visit(v1)).body).toMatchObject({ x402Version: 1, error: "invalid_payment" });
    const { headers } = await visit(v2);
    expect(read(headers.get("payment-required")).error).toBe("invalid_payment_requirements");
  });

  it("tells the sentence of a refusal in the body, beside the code", async () => {
    const message = "It needs one more.";
    const refused = { outcome: "refused", reason: "insufficient_funds", message, paymentId: null } as const;
    const { visit } = open({ answer: refused });
    for (const by of [v1, v2]) {
      const { body, headers } = await visit(by);
      expect(body).toMatchObject({ x402Version: 1, error: "insufficient_funds", errorMessage: message });
      expect(read(headers.get("payment-required")).error).toBe("insufficient_funds");
    }
    const unreadable = await visit({ "payment-signature": "no base64" });
    expect(unreadable.body).toMatchObject({
      errorMessage: expect.stringMatching(/^The payment cannot be read/),
    });
  });
});

describe("how a settle ends", () => {
  it.each([
    ["pending", { outcome: "pending", reason: "settlement_pending" }, 200],
    ["failed after it was sent", { outcome: "failed", reason: "invalid_exact_evm_transaction_failed" }, 402],
    ["settled before", { outcome: "duplicate", reason: "duplicate_settlement" }, 409],
    ["bound to something else", { outcome: "bound-elsewhere", reason: "authorization_bound_elsewhere" }, 409],
  ] as const)("%s: no new challenge", async (_, answer, status) => {
    const seen = await open({ answer }).visit(v2);
    expect(seen.status).toBe(status);
    expect(seen.body).toMatchObject({ success: false, errorReason: answer.reason });
    expect(read(seen.headers.get("payment-response"))).toEqual(seen.body);
    expect(seen.headers.get("payment-required")).toBeNull();
    expect(seen.headers.get("cache-control")).toBe("no-store, private");
    expect(seen.headers.get("vary")).toContain("PAYMENT-SIGNATURE");
  });

  it("nothing of the other side is told of an authorization that is bound to it", async () => {
    const answer = { outcome: "bound-elsewhere", reason: "authorization_bound_elsewhere" } as const;
    const { body } = await open({ answer }).visit(v2);
    expect(JSON.stringify(body)).not.toContain(paymentId);
    expect(JSON.stringify(body)).not.toContain(txHash);
  });

  it("an idempotency key of another payload is 409 with problem details", async () => {
    const answer = { outcome: "idempotency-key-reused", reason: "invalid_payload" } as const;
    const { status, body } = await open({ answer }).visit(v2);
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "idempotency_key_reused", success: false });
  });

  it.each(["settlement_pending", "unexpected_settle_error"] as const)(
    "an outage is 503, %s",
    async (reason) => {
      const answer = { outcome: "unavailable", reason, extra: { retryAfterSeconds: 3 } } as const;
      const { status, body, headers } = await open({ answer }).visit(v2);
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("3");
      expect(body).toMatchObject({ code: "unavailable", success: false, errorReason: reason });
    },
  );

  it("a bug after the engine was asked is told as unknown, never as unpaid", async () => {
    const { visit, facilitator } = open();
    facilitator.settlement = () => Promise.reject(new Error("SELECT * FROM claim"));
    const { status, body } = await visit(v2);
    expect(status).toBe(503);
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(JSON.stringify(body)).not.toContain("SELECT");
  });

  it.each([
    ["held", "payment_pending", 409],
    ["paid", "payable_closed", 410],
    ["closed", "payable_closed", 410],
  ] as const)("refused because it is %s by now: %s", async (state, code, status) => {
    const now = { ...offer, state, paymentId };
    const answer = { outcome: "refused", reason: "invalid_payment_requirements" } as const;
    const seen = await open({ offers: [offer, now], answer }).visit(v2);
    expect(seen).toMatchObject({ status, body: { code } });
    expect(seen.headers.get("payment-required")).toBeNull();
  });
});

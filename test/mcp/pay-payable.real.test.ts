import { beforeAll, describe, expect, it } from "vitest";
import type { Payable } from "#facilitator";
import { whileBlocksAreHeld } from "../conformance/held-blocks.ts";
import { newMerchant, newPayer, type Payer, sharedWorld, until } from "../support/house.ts";
import { projectPayable, type Shown, signRequired } from "./world.ts";

const world = sharedWorld({ settings: { maxWaitMs: 1_500 } });
let merchantId: string;
let payer: Payer;
beforeAll(async () => {
  merchantId = (await newMerchant(world)).id;
  payer = await newPayer(world.dev);
});

const project = (kind: Payable["kind"], changes: Partial<Payable> = {}) =>
  projectPayable(world, merchantId, { kind, ...changes });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

interface Params {
  readonly arguments: object;
  readonly _meta?: object;
}
/** By plain HTTP: these dialects are what clients in the field put on the wire. */
async function ask(params: Params, headers: Record<string, string> = {}): Promise<Shown> {
  return request("tools/call", { name: "pay_payable", ...params }, headers);
}
async function request<Result = Shown>(
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<Result> {
  const response = await fetch(`${world.baseUrl}/x402/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: Result }).result;
}

const sign = async (payableId: string, by = payer) =>
  signRequired(by, (await ask({ arguments: { payableId } })).structuredContent);

const hasChallenge = (result: Shown) =>
  JSON.stringify(result).includes('"accepts"') || result.structuredContent;

describe("without a payment", () => {
  it("answers with the challenge in the three places where clients look", async () => {
    const { id, url } = await project("invoice");
    const result = await ask({ arguments: { payableId: id } });
    const required = {
      x402Version: 2,
      error: "Payment required",
      resource: { url, mimeType: "application/json" },
      accepts: [expect.objectContaining({ amount: "10000" }), expect.anything()],
      extensions: { "payment-identifier": expect.anything() },
    };
    expect(result).toEqual({
      isError: true,
      structuredContent: required,
      content: [{ type: "text", text: expect.any(String) }],
      _meta: { "x402/error": required },
    });
    expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
  });

  it("speaks the negotiated extension with a client that declared it, and only then", async () => {
    const { id } = await project("invoice");
    const modern = async (extensions: object) => {
      const response = await fetch(`${world.baseUrl}/x402/mcp`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "pay_payable",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "pay_payable",
            arguments: { payableId: id },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": { extensions },
              "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
            },
          },
        }),
      });
      return ((await response.json()) as { result: Record<string, unknown> }).result;
    };
    const negotiated = await modern({ "org.x402/payment": {} });
    expect(negotiated).toMatchObject({
      resultType: "payment_required",
      paymentRequired: { x402Version: 2, accepts: expect.any(Array) },
    });
    expect(negotiated.isError).toBeUndefined();
    expect(await modern({})).toMatchObject({ resultType: "complete", isError: true });
  });
});

describe("a payment", () => {
  type Payment = Awaited<ReturnType<typeof sign>>;
  const dialects: readonly [
    string,
    (payment: Payment) => [Omit<Params, "arguments"> & { payment?: unknown }, Record<string, string>],
  ][] = [
    ['_meta["x402/payment"] as an object', (payment) => [{ _meta: { "x402/payment": payment } }, {}]],
    ['_meta["x402/payment"] in base64', (payment) => [{ _meta: { "x402/payment": base64(payment) } }, {}]],
    ['_meta["x402.payment"] in base64', (payment) => [{ _meta: { "x402.payment": base64(payment) } }, {}]],
    ["the argument payment as an object", (payment) => [{ payment }, {}]],
    ["the argument payment in base64", (payment) => [{ payment: base64(payment) }, {}]],
    ["the header PAYMENT-SIGNATURE", (payment) => [{}, { "payment-signature": base64(payment) }]],
    ["the header X-PAYMENT", (payment) => [{}, { "x-payment": base64(payment) }]],
    [
      "two places, the same in both",
      (payment) => [{ _meta: { "x402/payment": payment } }, { "payment-signature": base64(payment) }],
    ],
  ];

  it.each(dialects)("is taken from %s, settled and receipted", async (_, place) => {
    const { id } = await project("payment-link");
    const [{ payment, ...params }, headers] = place(await sign(id));
    const args = { payableId: id, ...(payment === undefined ? {} : { payment }) };
    const result = await ask({ ...params, arguments: args }, headers);
    expect(result).toMatchObject({
      structuredContent: { success: true, status: "settled", paymentId: expect.stringMatching(/^stl_/) },
      _meta: {
        "x402/payment-response": { success: true, network: "eip155:31337", payer: expect.any(String) },
      },
    });
    expect(result.isError).toBeUndefined();
    expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
  });

  it("of an intent names the page of its receipt; of anything else there is none yet", async () => {
    const [intent, link] = [await project("payment-intent"), await project("payment-link")];
    const receiptUrl = `${world.baseUrl}/checkout/${intent.id}/receipt.pdf`;
    const pay = async (id: string) => ask({ arguments: { payableId: id, payment: await sign(id) } });
    expect(await pay(intent.id)).toMatchObject({
      structuredContent: { success: true, receiptUrl },
      _meta: { "x402/payment-response": { extra: { receiptUrl } } },
    });
    const other = await pay(link.id);
    expect(other.structuredContent).toMatchObject({ success: true, receiptUrl: null });
    expect(JSON.stringify(other)).not.toContain("receipt.pdf");
    const { id } = await project("payment-intent");
    const args = { payableId: id, paymentPayload: await sign(id) };
    const settled = await request("tools/call", { name: "settle_payment", arguments: args });
    expect(settled.structuredContent.receiptUrl).toBe(`${world.baseUrl}/checkout/${id}/receipt.pdf`);
  });

  it("and another one beside it are refused together", async () => {
    const { id } = await project("payment-link");
    const [one, other] = [await sign(id), await sign(id)];
    const result = await ask({
      arguments: { payableId: id, payment: other },
      _meta: { "x402/payment": one },
    });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: "invalid_payload" } });
  });

  it("that would not settle gets the challenge again, with the reason", async () => {
    const { id } = await project("invoice");
    const poor = await newPayer(world.dev, 1n);
    const payment = await sign(id, poor);
    const result = await ask({ arguments: { payableId: id, payment } });
    const { asset } = payment.accepted;
    expect(result.content[1]?.text).toBe(
      `On local (eip155:31337) ${poor.address} holds 0.000001 USDC (atomic: 1) of the token ${asset}; 0.010000 USDC (atomic: 10000) are needed, open payments included. Fund the account there and send the same payment again.`,
    );
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: "insufficient_funds", accepts: expect.any(Array) },
      _meta: { "x402/payment-response": { success: false, errorReason: "insufficient_funds" } },
    });
  });

  it("of version 1 is refused in words where the chain has no name in it", async () => {
    const { id } = await project("invoice");
    const { payload } = await sign(id);
    const payment = { x402Version: 1, scheme: "exact", network: "base-sepolia", payload };
    const result = await ask({ arguments: { payableId: id, payment } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: "invalid_network" } });
  });

  it("that was settled before is told so, with nothing that a wallet would sign", async () => {
    const { id } = await project("payment-link");
    const payment = await sign(id);
    const first = await ask({ arguments: { payableId: id, payment } });
    const again = await ask({ arguments: { payableId: id, payment } });
    expect(again).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^duplicate_settlement: /) }],
      _meta: {
        "x402/payment-response": {
          success: false,
          errorReason: "duplicate_settlement",
          transaction: first.structuredContent.transaction,
        },
      },
    });
    expect(hasChallenge(again)).toBeFalsy();
    // and with a key the first answer is told again
    const other = await sign(id);
    const idempotencyKey = "a key of this very test";
    const keyed = await ask({ arguments: { payableId: id, payment: other, idempotencyKey } });
    const replayed = await ask({ arguments: { payableId: id, payment: other, idempotencyKey } });
    expect(replayed.structuredContent).toEqual(keyed.structuredContent);
  });

  it("that pays for something else is told so, and nothing of the other thing", async () => {
    const [one, other] = [await project("payment-link"), await project("payment-link")];
    const payment = await sign(one.id);
    const { structuredContent } = await ask({ arguments: { payableId: one.id, payment } });
    const result = await ask({ arguments: { payableId: other.id, payment } });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "x402/payment-response": { errorReason: "authorization_bound_elsewhere", transaction: "" } },
    });
    expect(hasChallenge(result)).toBeFalsy();
    expect(JSON.stringify(result)).not.toContain(structuredContent.transaction);
    expect(JSON.stringify(result)).not.toContain(one.id);
  });
});

describe("an outcome that is open", () => {
  it("is no challenge to its payer nor to anybody else", async () => {
    const { id } = await project("invoice");
    const [payment, rival] = [await sign(id), await sign(id, await newPayer(world.dev))];
    await whileBlocksAreHeld(world.dev, async () => {
      const pending = await ask({ arguments: { payableId: id, payment } });
      expect(pending).toMatchObject({
        structuredContent: { status: "pending", success: false, next: { action: "wait" } },
        _meta: { "x402/payment-response": { success: false, errorReason: "settlement_pending" } },
      });
      expect(pending.isError).toBeUndefined();
      for (const args of [{ payableId: id }, { payableId: id, payment: rival }]) {
        const busy = await ask({ arguments: args });
        expect(busy.isError).toBe(true);
        expect(busy.content[0]?.text).toContain(`payment_pending: `);
        expect(busy.content[0]?.text).toContain(pending.structuredContent.paymentId);
        expect(hasChallenge(busy)).toBeFalsy();
      }
    });
    await until(
      async () =>
        (await ask({ arguments: { payableId: id, payment } })).structuredContent?.status === "settled",
      "the repeat joins and is told that it is paid",
    );
    const paid = await ask({ arguments: { payableId: id } });
    expect(paid.content[0]?.text).toBe("payable_closed: It is paid. Do not sign and do not retry.");
  });
});

describe("another payment of what can be paid once", () => {
  const use = async (name: string, args: object) =>
    (await request("tools/call", { name, arguments: args })).structuredContent;
  const settleByUrl = async (paymentPayload: object) => {
    const response = await fetch(`${world.baseUrl}/x402/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ x402Version: 2, paymentPayload }),
    });
    return response.json();
  };

  it("waits while the first is under way, and is not retried once it is paid", async () => {
    const { id } = await project("invoice");
    const [payment, rival] = [await sign(id), await sign(id, await newPayer(world.dev))];
    const args = { payableId: id, paymentPayload: rival };
    const reason = "invalid_payment_requirements";
    await whileBlocksAreHeld(world.dev, async () => {
      const { paymentId } = (await ask({ arguments: { payableId: id, payment } })).structuredContent;
      const next = {
        action: "wait",
        text: expect.stringContaining(paymentId),
        tool: "get_payment_status",
      };
      const underWay = expect.stringContaining("under way");
      expect(await use("verify_payment", args)).toMatchObject({
        isValid: false,
        invalidReason: reason,
        invalidMessage: underWay,
        next,
      });
      expect(await use("settle_payment", args)).toMatchObject({
        ...{ success: false, status: "refused", errorReason: reason, errorMessage: underWay },
        next,
      });
    });
    await until(
      async () => (await use("get_payable", { id })).state === "paid",
      "the first payment has arrived",
    );
    const next = { action: "do-not-retry", text: expect.stringContaining("It is paid.") };
    const paid = expect.stringMatching(/^It is paid/);
    expect(await use("verify_payment", args)).toMatchObject({ isValid: false, invalidMessage: paid, next });
    expect(await use("settle_payment", args)).toMatchObject({ success: false, errorMessage: paid, next });
    expect(await settleByUrl(rival)).toMatchObject({
      ...{ success: false, errorReason: reason, errorMessage: paid, transaction: "" },
    });
    // and the payment that paid it is still a duplicate of itself
    await use("settle_payment", { payableId: id, paymentPayload: payment });
    expect(await use("verify_payment", { payableId: id, paymentPayload: payment })).toMatchObject({
      invalidReason: "duplicate_settlement",
      next: { action: "do-not-retry" },
    });
  });

  it("is not retried where the payable is closed", async () => {
    const { id } = await project("invoice");
    const paymentPayload = await sign(id);
    await project("invoice", { id, closedAt: new Date(), closedAs: "void" });
    const next = { action: "do-not-retry" };
    const args = { payableId: id, paymentPayload };
    expect(await use("verify_payment", args)).toMatchObject({ isValid: false, next });
    expect(await use("settle_payment", args)).toMatchObject({ success: false, next });
  });

  it("is fixed and sent again while the payable is open", async () => {
    const { id } = await project("invoice");
    const args = { payableId: id, paymentPayload: await sign(id, await newPayer(world.dev, 1n)) };
    const next = { action: "fix-and-retry" };
    expect(await use("verify_payment", args)).toMatchObject({ invalidReason: "insufficient_funds", next });
    expect(await use("settle_payment", args)).toMatchObject({ errorReason: "insufficient_funds", next });
  });
});

describe("a payable that is closed", () => {
  it.each([
    ["void", { closedAt: new Date(), closedAs: "void" }],
    ["expired", { expiresAt: new Date(Date.now() - 1) }],
  ])("because it is %s is never priced again", async (_, changes) => {
    const { id } = await project("invoice", changes);
    const result = await ask({ arguments: { payableId: id } });
    expect(result.content[0]?.text).toMatch(/^payable_closed: /);
    expect(hasChallenge(result)).toBeFalsy();
  });
});

describe("a payable in a currency that no coin is at parity with", () => {
  const pageUrl = "https://pay.example/invoices/inv_1/view";

  it.each([
    ["GBP", { atomic: "400", decimal: "4.00", decimals: 2, symbol: "GBP" }],
    ["CHF", { atomic: "400", decimal: "4.00", decimals: 2, symbol: "CHF" }],
    ["JPY", { atomic: "400", decimal: "400", decimals: 0, symbol: "JPY" }],
  ])("is shown in %s as it was billed, and nobody is asked to sign", async (asset, amount) => {
    const { id } = await project("payment-intent", { price: { amount: 400n, asset }, pageUrl });
    const shown = await request("tools/call", { name: "get_payable", arguments: { id } });
    expect(shown.structuredContent).toMatchObject({
      state: "open",
      amount,
      rails: [],
      next: { action: "do-not-retry", text: expect.stringContaining(pageUrl) },
    });
    expect(hasOffer(shown)).toBe(false);
    const document = await read(id);
    expect(document).toMatchObject({ state: "open", amount });
    expect(document).not.toHaveProperty("paymentRequired");
    const paying = await ask({ arguments: { payableId: id } });
    expect(paying).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^rail_unsupported: .*do not sign/i) }],
    });
    expect(hasChallenge(paying)).toBeFalsy();
  });

  const hasOffer = (result: Shown) => JSON.stringify(result).includes('"accepts"');
  async function read(id: string) {
    const { contents } = await request<{ contents: readonly [{ text: string }] }>("resources/read", {
      uri: `x402://payables/${id}`,
    });
    return JSON.parse(contents[0].text);
  }
});

/** Links that are paid by intents of their own, over MCP: of an open amount, and in a currency without a coin. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPayer, sharedWorld, until } from "../support/house.ts";
import { sharedSeller } from "../support/payments.ts";
import { ledgerOf } from "../support/records.ts";
import { type Agent, newAgent, signRequired } from "./world.ts";

const world = sharedWorld();
const seller = sharedSeller(world);
let agent: Agent;
beforeAll(async () => {
  agent = await newAgent(world.baseUrl, "auto");
});
afterAll(async () => {
  await agent.close();
});

const open = { kind: "open", currency: "USD", minAmount: { amount: "0.20", asset: "USD" } };
const inPounds = { kind: "fixed", amount: { amount: "0.40", asset: "GBP" } };
const newLink = async (body: object): Promise<{ id: string; url: string }> =>
  seller.must("POST", "/v1/payment-links", body);
const textOf = async (name: string, args: object) => (await agent.call(name, args)).content[0]?.text;

/** Payments of the link that the merchant sees. */
async function completed(id: string): Promise<number> {
  const all: { paymentIntent: { metadata: Record<string, string> } }[] = await seller.must(
    "GET",
    "/v1/payments?source=payment-link&status=completed",
  );
  return all.filter(({ paymentIntent }) => paymentIntent.metadata.paymentLinkId === id).length;
}

describe("get_payable", () => {
  it("asks for what the payer of an open link names, by its id and by its page", async () => {
    const { id, url } = await newLink(open);
    for (const named of [{ id }, { url }]) {
      const { structuredContent: payable } = await agent.call("get_payable", {
        ...named,
        openAmount: "2.50",
      });
      expect(payable).toMatchObject({
        ...{ kind: "payment-intent", state: "open", amount: { decimal: "2.50", symbol: "USD" } },
        next: { action: "sign", tool: "pay_payable" },
      });
      expect(payable.paymentRequired.accepts[0].amount).toBe("2500000");
    }
  });

  it("asks for a price in a currency without a coin at a locked rate", async () => {
    const { id } = await newLink(inPounds);
    const { structuredContent: payable } = await agent.call("get_payable", { id });
    expect(payable).toMatchObject({ state: "open", amount: { symbol: "USDC" } });
  });

  it.each([
    [
      {},
      "invalid_arguments: openAmount: needed: the payer of an open link says how much. Correct it and call again.",
    ],
    [
      { openAmount: "lots" },
      "invalid_arguments: openAmount: a decimal string in major units, such as 12.50. Correct it and call again.",
    ],
    [
      { openAmount: "0.123456789" },
      "too_many_decimals: An amount of USD has at most 2 decimals. Nothing is rounded silently; send fewer.",
    ],
    [{ openAmount: "0.10" }, expect.stringMatching(/^amount_too_small: .*0[.]20/)],
  ])("says of an open link with %j what is wrong", async (args, told) => {
    const { id } = await newLink(open);
    expect(await textOf("get_payable", { id, ...args })).toEqual(told);
    expect(await textOf("pay_payable", { payableId: id, ...args })).toEqual(told);
  });

  it("knows no amount of a link that says what it costs, and no link that is not there", async () => {
    const { id } = await newLink(inPounds);
    expect(await textOf("get_payable", { id, openAmount: "1.00" })).toMatch(
      /^invalid_arguments: openAmount: none: the link says what it costs/,
    );
    const parity = { kind: "fixed", amount: { amount: "3.00", asset: "USD" } };
    const bill = { buyer: { name: "Ada" }, currency: "USD", issue: true };
    const lines = [{ name: "Tea", unitPrice: { amount: "3.00", asset: "USD" } }];
    const invoice: { id: string } = await seller.must("POST", "/v1/invoices", { ...bill, lines });
    const told =
      "invalid_arguments: openAmount: none: this costs 3.00 USD, all at once. Leave it out. Correct it and call again.";
    for (const fixed of [await newLink(parity), invoice]) {
      expect(await textOf("get_payable", { id: fixed.id, openAmount: "1.00" })).toBe(told);
      expect(await textOf("pay_payable", { payableId: fixed.id, openAmount: "1.00" })).toBe(told);
    }
    const unknown = id.replace(/.{4}$/, "0000");
    expect(await textOf("get_payable", { id: unknown })).toMatch(/^not_found: /);
  });
});

describe("what names it", () => {
  it("may be its URL, in whichever argument", async () => {
    const { id, url } = await newLink({ kind: "fixed", amount: { amount: "3.00", asset: "USD" } });
    for (const args of [{ id: url }, { url: id }])
      expect((await agent.call("get_payable", args)).structuredContent).toMatchObject({ id, state: "open" });
    const asked = await agent.call("pay_payable", { payableId: url });
    expect(asked.structuredContent.resource.url).toBe(`${world.baseUrl}/x402/payables/${id}`);
  });

  it("is asked for no amount when the payment is what is wrong", async () => {
    const { id } = await newLink(open);
    expect(await textOf("pay_payable", { payableId: id, payment: "no base64" })).toMatch(
      /^invalid_arguments: payment: The payment cannot be read: /,
    );
  });
});

describe("verify_payment and settle_payment", () => {
  it.each([
    ["what the payer names", open, { openAmount: "2.50" }],
    ["a price at a locked rate", inPounds, {}],
  ])("take %s by the id of the link", async (_, body, args) => {
    const { id } = await newLink(body);
    const asked = await agent.call("pay_payable", { payableId: id, ...args });
    const payer = await newPayer(world.dev, 5_000_000n);
    const paymentPayload = await signRequired(payer, asked.structuredContent);
    const call = { payableId: id, paymentPayload };
    expect((await agent.call("verify_payment", call)).structuredContent).toMatchObject({ isValid: true });
    const { structuredContent: settled } = await agent.call("settle_payment", call);
    expect(settled).toMatchObject({ success: true, status: "settled" });
    expect(await ledgerOf(world.database, settled.paymentId)).toHaveLength(2);
  });
});

describe("a payment of a link that names no intent", () => {
  const signed = async (id: string, args: object) => {
    const asked = await agent.call("pay_payable", { payableId: id, ...args });
    const payer = await newPayer(world.dev, 5_000_000n);
    const { resource: _, ...payment } = await signRequired(payer, asked.structuredContent);
    return payment;
  };

  it.each([
    ["pay_payable", "payment", open, { openAmount: "0.75" }],
    ["settle_payment", "paymentPayload", inPounds, {}],
  ] as const)(
    "three times at once is paid once, and no call of %s says that it pays for something else",
    async (tool, argument, body, args) => {
      const { id } = await newLink(body);
      const payment = await signed(id, args);
      const call = { payableId: id, [argument]: payment, ...args };
      const answers = await Promise.all([1, 2, 3].map(() => agent.call(tool, call)));
      const told = answers.map(
        ({ structuredContent: facts, content: [first] }) =>
          facts?.errorReason ?? facts?.status ?? first?.text.split(":")[0],
      );
      expect(told.sort()).toEqual(["duplicate_settlement", "duplicate_settlement", "settled"]);
      await until(async () => (await completed(id)) === 1, "the merchant sees one payment");
    },
  );

  it("is told what it lacks by a tool that takes no amount", async () => {
    const { id } = await newLink(open);
    const paymentPayload = await signed(id, { openAmount: "0.75" });
    for (const tool of ["verify_payment", "settle_payment"])
      expect(await textOf(tool, { payableId: id, paymentPayload })).toMatch(
        /^invalid_arguments: paymentPayload: .*add resource, as paymentRequired has it/,
      );
  });

  it("pays nothing of another link", async () => {
    const [one, two] = [await newLink(open), await newLink(open)];
    const args = { payment: await signed(one.id, { openAmount: "0.75" }), openAmount: "0.75" };
    const paid = await agent.call("pay_payable", { payableId: one.id, ...args });
    expect(paid.structuredContent).toMatchObject({ status: "settled" });
    expect(await textOf("pay_payable", { payableId: two.id, ...args })).toMatch(
      /^authorization_bound_elsewhere: /,
    );
  });
});

describe("pay_payable", () => {
  it.each([
    ["what the payer names", open, { openAmount: "2.50" }],
    ["a price at a locked rate", inPounds, {}],
  ])("takes %s, once: the same call again is a duplicate", async (_, body, args) => {
    const { id } = await newLink(body);
    const asked = await agent.call("pay_payable", { payableId: id, ...args });
    const { resource: __, ...payment } = await signRequired(
      await newPayer(world.dev, 5_000_000n),
      asked.structuredContent,
    );
    // Without the word which intent it was signed for.
    const call = { payableId: id, ...args, payment };
    const { structuredContent: receipt } = await agent.call("pay_payable", call);
    expect(receipt).toMatchObject({ success: true, status: "settled", payable: { kind: "payment-intent" } });
    expect(await ledgerOf(world.database, receipt.paymentId)).toHaveLength(2);
    const again = await agent.call("pay_payable", call);
    expect(again.content[0]?.text).toMatch(/^duplicate_settlement: /);
    expect(again._meta).toMatchObject({ "x402/payment-response": { transaction: receipt.transaction } });
    await until(async () => (await completed(id)) === 1, "it is a payment of the merchant");
  });
});

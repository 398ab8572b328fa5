import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { describe, expect, it } from "vitest";
import type { SettlementStatus } from "#facilitator";
import {
  nothingKnown,
  offer,
  payer,
  paymentId,
  quote,
  rail,
  resourceId,
  settledAnswer,
  txHash,
  usdc,
} from "../api/world.ts";
import { call, open } from "./opened.ts";

describe("what is told of a payment", () => {
  const paymentPayload = {
    x402Version: 2,
    resource: { url: quote.payable.url },
    accepted: {
      scheme: "exact",
      network: rail.network,
      asset: rail.contract,
      amount: "10000",
      payTo: rail.payTo,
    },
    payload: { authorization: { from: payer, nonce: `0x${"01".repeat(32)}` } },
  };
  const args = { resourceId, paymentPayload };
  type World = ReturnType<typeof open>;
  const nextOf = async ({ ask }: World, name: string, given: object = args) =>
    (await ask(call(name, given))).body.result.structuredContent.next;

  it.each([
    [
      "authorization_bound_elsewhere",
      "bound-elsewhere",
      /pays for something else already.*only if you want both/,
    ],
    ["invalid_exact_evm_nonce_already_used", "refused", /used on chain.*Look at that transfer first/],
  ] as const)("%s does not say that nothing was charged", async (reason, outcome, words) => {
    const world = open();
    const refused = { reason, message: "No." };
    world.facilitator.verdict = async () => ({ outcome: "invalid", payer, ...refused });
    world.facilitator.settlement = async () => ({ ...settledAnswer, outcome, ...refused });
    for (const tool of ["verify_payment", "settle_payment"]) {
      const next = await nextOf(world, tool);
      expect(next).toMatchObject({ action: "do-not-retry", text: expect.stringMatching(words) });
      expect(next.text).not.toContain("Nothing was charged");
    }
  });

  it("a payload may come as base64, as wallets give it, or as its JSON, as models write it", async () => {
    const world = open({ facilitator: { offer: async () => offer } });
    const json = JSON.stringify(paymentPayload);
    for (const written of [Buffer.from(json).toString("base64"), json]) {
      const given = { resourceId, paymentPayload: written };
      expect(await nextOf(world, "verify_payment", given)).toMatchObject({ action: "send-to-resource" });
      expect(await nextOf(world, "settle_payment", given)).toMatchObject({ action: "done" });
      const paying = { payableId: "inv_01K2C0Z0000000000000000000", payment: written };
      expect(await nextOf(world, "pay_payable", paying)).toMatchObject({ action: "done" });
    }
    expect(new Set(world.facilitator.asked.map(({ payloadHash }) => payloadHash())).size).toBe(1);
  });

  it("of a payload that names no resource it is said so, before it is sent to one", async () => {
    const { resource: _, ...nameless } = paymentPayload;
    const given = { resourceId, paymentPayload: nameless };
    const { action, text } = await nextOf(open(), "verify_payment", given);
    expect([action, text]).toEqual([
      "send-to-resource",
      expect.stringMatching(/^The payload names no resource.*add resource, as paymentRequired has it/),
    ]);
    expect((await nextOf(open(), "verify_payment")).text).toMatch(/^Send this payload/);
  });

  it("of a tool of an MCP server is said which tool, with what, and that its call takes the payment", async () => {
    const inputSchema = { type: "object", properties: { city: { type: "string" } } };
    const askAbout = async (tool: { inputSchema: object; example?: object }) => {
      const extensions = declareDiscoveryExtension({ toolName: "forecast", ...tool } as never);
      const sold = { ...offer, payable: { ...offer.payable, extensions } };
      const discover = async () => ({ items: [{ ...sold, trust: nothingKnown }], total: 1 });
      const world = open({ facilitator: { offer: async () => sold, discover } });
      const { body: found } = await world.ask(call("search_resources"));
      expect(found.result.structuredContent.items).toMatchObject([{ id: resourceId, type: "mcp" }]);
      const { body } = await world.ask(call("get_payment_required", { id: resourceId }));
      const { callExample, next } = body.result.structuredContent;
      for (const { action, text } of [next, await nextOf(world, "verify_payment")]) {
        expect(["sign", "send-to-resource"]).toContain(action);
        expect(text).toMatch(/tool.* at its URL, .*_meta\["x402\/payment"\]/);
        expect(text).not.toContain("PAYMENT-SIGNATURE");
      }
      return callExample;
    };
    const named = {
      available: true,
      trust: "merchant-supplied",
      url: offer.payable.url,
      toolName: "forecast",
    };
    const example = { city: "Oslo" };
    expect(await askAbout({ inputSchema, example })).toEqual({ ...named, arguments: example });
    expect(await askAbout({ inputSchema })).toEqual({ ...named, inputSchema });
    expect(await askAbout({ inputSchema, example: { city: Array(600).fill("Oslo") } })).toEqual(named);
  });

  it("a refusal of pay_payable has its sentence in the text, after the challenge", async () => {
    const world = open({
      facilitator: { offer: async () => offer },
    });
    const message = "It needs one more.";
    const refused = { outcome: "refused", reason: "insufficient_funds", message } as const;
    world.facilitator.settlement = async () => ({ ...settledAnswer, ...refused });
    const pay = async (payment: unknown) => {
      const given = { payableId: "inv_01K2C0Z0000000000000000000", payment };
      const { content, structuredContent } = (await world.ask(call("pay_payable", given))).body.result;
      expect(JSON.parse(content[0].text)).toEqual(structuredContent);
      return [structuredContent.error, content[1].text];
    };
    expect(await pay(paymentPayload)).toEqual(["insufficient_funds", message]);
    expect(await pay("no base64")).toEqual(["invalid_payload", expect.stringMatching(/cannot be read/)]);
    expect(await pay({ x402Version: 2, payload: {} })).toEqual([
      "invalid_payload",
      expect.stringMatching(/^The chosen option is missing/),
    ]);
  });

  it("a re-send that recorded nothing says so of itself alone: the first call may have", async () => {
    const world = open();
    const reason = "unexpected_settle_error";
    world.facilitator.settlement = async () => ({ ...settledAnswer, outcome: "unavailable", reason });
    const { body } = await world.ask(call("settle_payment", args));
    expect(body.result.content[0].text).toMatch(
      /^unavailable: This call recorded nothing, though an earlier one may have[.] Do not sign again: ask get_payment_status/,
    );
  });

  it("money that is sent back is told alike by all who tell of it, and nobody signs before it is there", async () => {
    const refused = { reason: "invalid_payment_requirements", message: "Not accepted." } as const;
    const world = open({
      facilitator: {
        offer: async () => offer,
        lookup: async () => ({ kind: "found", status: cancelled, token: usdc, amount: 10_000n }),
      },
    });
    world.facilitator.verdict = async () => ({ outcome: "invalid", payer, ...refused });
    world.facilitator.settlement = async () => ({
      ...settledAnswer,
      ...{ outcome: "failed", ...refused, extra: { chargeable: false } },
    });
    const next = await nextOf(world, "get_payment_status", { paymentId });
    expect(next).toMatchObject({ action: "do-not-retry", text: expect.stringContaining("goes back") });
    expect(await nextOf(world, "verify_payment")).toEqual(next);
    expect(await nextOf(world, "settle_payment")).toEqual(next);
    const paying = call("pay_payable", {
      payableId: "inv_01K2C0Z0000000000000000000",
      payment: paymentPayload,
    });
    expect((await world.ask(paying)).body.result.content[0].text).toBe(
      `invalid_payment_requirements: Not accepted. ${next.text}`,
    );
    // and what is merely wrong is still told so
    world.facilitator.lookup = async () => ({ kind: "not-found" });
    expect(await nextOf(world, "verify_payment")).toMatchObject({ action: "fix-and-retry" });
  });
  const cancelled: SettlementStatus = {
    paymentId,
    status: "cancelled",
    success: false,
    reason: "invalid_payment_requirements",
    transaction: txHash,
    network: rail.network,
    payer,
    block: null,
    logIndex: null,
    confirmations: 0,
    required: 1,
    chargeable: false,
  };

  it.each(["search_resources", "search_payables"])(
    "%s of nothing tells what can be dropped, if anything can",
    async (tool) => {
      const world = open({ facilitator: { discover: async () => ({ items: [], total: 0 }) } });
      expect(await nextOf(world, tool, { query: "tea" })).toMatchObject({ action: "fix-and-retry", tool });
      for (const everything of [{}, { query: " " }]) {
        const next = await nextOf(world, tool, everything);
        expect(next).toMatchObject({ action: "done", text: expect.stringContaining("Nothing is listed") });
      }
    },
  );
});

import { describe, expect, it } from "vitest";
import type { Caller } from "#mcp";
import { fakeFacilitator, nothingKnown, payer, paymentId, quote, resourceId, v2Body } from "../api/world.ts";
import { call, envelope, listTools, open } from "./opened.ts";

describe("what is told when it goes wrong", () => {
  it("a limit is a tool result with the seconds to wait", async () => {
    const caller: Caller = {
      address: "a",
      newRequestId: () => "req_1",
      limit: async (rate) => (rate === "discovery" ? 7 : null),
      delivery: { closed: new AbortController().signal, orElse: () => {} },
    };
    const { status, body } = await open().ask(call("search_resources"), {}, caller);
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ isError: true });
    expect(body.result.content[0].text).toBe(
      "rate_limited: Too many calls. Wait 7 seconds, then repeat this one.",
    );
  });

  describe("what calls no tool has a limit of its own", () => {
    const read = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/read",
      params: { uri: `x402://resources/${resourceId}` },
    });
    /** Takes so many requests that call no tool. */
    function counting(most: number) {
      const counted: string[] = [];
      const caller: Caller = {
        address: "a",
        newRequestId: () => "req_1",
        limit: async (rate) => {
          counted.push(rate);
          return counted.filter((each) => each === "agent-request").length > most ? 7 : null;
        },
        delivery: { closed: new AbortController().signal, orElse: () => {} },
      };
      return { counted, caller };
    }

    it("429 with the seconds to wait, and nothing is read", async () => {
      const { counted, caller } = counting(2);
      const { ask, facilitator } = open();
      expect((await ask(read(1), {}, caller)).body.result.contents).toHaveLength(1);
      expect((await ask(listTools, {}, caller)).status).toBe(200);
      let isRead = false;
      facilitator.offer = async () => {
        isRead = true;
        return null;
      };
      const refused = await ask(read(2), {}, caller);
      expect([refused.status, refused.headers.get("retry-after"), isRead]).toEqual([429, "7", false]);
      expect(refused.body.error).toEqual({
        code: -32603,
        message: "Too many requests. Wait 7 seconds, then repeat this one.",
      });
      expect(counted).toEqual(["agent-request", "agent-request", "agent-request"]);
    });

    it("counts each message of a batch once, and treats all or none", async () => {
      const { counted, caller } = counting(3);
      const { ask } = open();
      const batch = [read(1), call("get_payment_status", { paymentId: "stl_nothing" }), listTools];
      expect((await ask(batch, {}, caller)).body).toHaveLength(3);
      expect(counted.sort()).toEqual(["agent-request", "agent-request", "lookup"]);
      expect((await ask(batch, {}, caller)).status).toBe(429);
      expect(counted.filter((each) => each === "lookup")).toHaveLength(1);
    });

    it("is that of calls of a tool that there is not", async () => {
      const { counted, caller } = counting(1);
      await open().ask(call("transfer_all"), {}, caller);
      expect(counted).toEqual(["agent-request"]);
    });
  });

  it("a payment is counted by what it pays, and by who says that it pays together with where it comes from", async () => {
    const counted: unknown[] = [];
    const from = (address: string): Caller => ({
      address,
      newRequestId: () => "req_1",
      limit: async (rate, who) => {
        if (rate === "payable" || rate === "payer") counted.push([rate, who]);
        return null;
      },
      delivery: { closed: new AbortController().signal, orElse: () => {} },
    });
    const verify = call("verify_payment", { resourceId, paymentPayload: v2Body.paymentPayload });
    for (const address of ["192.0.2.1", "192.0.2.2"]) await open().ask(verify, {}, from(address));
    expect(counted).toEqual([
      ["payable", resourceId],
      ["payer", `${payer} 192.0.2.1`],
      ["payable", resourceId],
      ["payer", `${payer} 192.0.2.2`],
    ]);
  });

  it("a fault of ours shows nothing of the inside", async () => {
    const failing = { discover: () => Promise.reject(new Error("SELECT secret FROM claim")) };
    const { ask, log } = open({ facilitator: failing });
    const { text, body } = await ask(call("search_resources"));
    expect(body.result.isError).toBe(true);
    expect(text).toContain("internal_error");
    expect(text).not.toContain("secret");
    expect(log.lines.join()).toContain("search_resources");
  });

  it.each([
    ["search_resources", { limit: 21 }, "limit"],
    ["search_resources", { cursor: "bm90IG91cnM" }, "Drop cursor"],
    ["get_payment_required", {}, "exactly one of id and url"],
    ["get_payment_required", { id: "x", url: "y" }, "exactly one of id and url"],
    ["get_payment_required", { id: "x402r_unknown" }, "not_found"],
    ["get_payable", { id: "inv_01K2C0Z0000000000000000000" }, "not_found"],
    ["quote_payment", { amount: "1e9", asset: "USD", assets: ["USDC"] }, "amount: a decimal string"],
    ["quote_payment", { amount: "1", asset: "XXX", assets: ["USDC"] }, "currency_unsupported"],
    ["pay_payable", {}, "payableId: it is missing."],
    ["verify_payment", { resourceId }, "paymentPayload: it is missing."],
    ["verify_payment", { resourceId: "x402r_1", payableId: "inv_1", paymentPayload: {} }, "paymentPayload"],
    [
      "verify_payment",
      { resourceId, paymentPayload: { payload: {} } },
      "paymentPayload.x402Version: it is missing.",
    ],
    [
      "verify_payment",
      { resourceId, paymentPayload: { x402Version: "2", payload: {} } },
      "paymentPayload.x402Version: Invalid input: expected number, received string.",
    ],
    [
      "settle_payment",
      { resourceId, paymentPayload: "AA" },
      "paymentPayload: The payment cannot be read: it is",
    ],
    ["get_payment_status", { network: "eip155:8453" }, "give paymentId"],
    ["get_payment_status", { paymentId: "stl_1", payer: "0x1" }, "give paymentId"],
    ["pay_payable", { payableId: "inv_1", privateKey: "0x1" }, "Unrecognized key: privateKey"],
  ])("%s %j → %s", async (name, args, words) => {
    const { body } = await open().ask(call(name, args));
    expect(body.result.isError).toBe(true);
    expect(body.result.content[0].text).toContain(words);
  });

  describe("a status", () => {
    const hex = (digits: string, bytes: number) => `0x${digits.repeat(bytes)}`;
    const signed = { network: "eip155:8453", asset: "USDC", payer: hex("ab", 20), nonce: hex("01", 32) };
    const mined = { network: "eip155:8453", payer: hex("ab", 20), transaction: hex("02", 32) };

    it.each([{ paymentId }, signed, mined])(
      "that was never recorded is an answer that asks nobody to sign: %j",
      async (args) => {
        const { body } = await open().ask(call("get_payment_status", args));
        expect(body.result.structuredContent).toMatchObject({
          status: "not-found",
          next: { action: "wait", text: expect.stringContaining("before you sign") },
        });
        expect(body.result.isError).toBeUndefined();
      },
    );

    const served = "network: not served here, or not in CAIP-2. Served: eip155:8453, eip155:1";
    const noAddress = "not an address, which is 0x and 40 digits of hex";
    it.each([
      [{ paymentId: "stl_nothing" }, "paymentId: not an id of a payment, which is stl_ and 26 characters"],
      [{ ...signed, network: "base" }, served],
      [{ ...mined, network: "eip155:999" }, served],
      [{ ...signed, asset: "EURX" }, `asset: ${noAddress}`],
      [{ ...signed, payer: "0x12" }, `payer: ${noAddress}`],
      [
        { ...mined, payer: `0xAB${"ab".repeat(19)}` },
        "payer: its checksum (EIP-55) is wrong, so a character may be",
      ],
      [{ ...signed, nonce: "0x01" }, "nonce: not 32 bytes of hex, which is 0x and 64 digits"],
      [{ ...mined, transaction: "latest" }, "transaction: not 32 bytes of hex, which is 0x and 64 digits"],
    ])("of what is misnamed is none, so that nobody pays twice: %j", async (args, why) => {
      const [base] = fakeFacilitator().chains();
      if (!base) throw new Error("no chain is served");
      // Nothing new is paid there, and earlier payments are looked up all the same.
      const paused = { ...base, chain: "ethereum", network: "eip155:1" } as const;
      const { ask } = open({ facilitator: { chains: () => [base, paused] } });
      const { body } = await ask(call("get_payment_status", args));
      expect(body.result).toEqual({
        isError: true,
        content: [{ type: "text", text: `invalid_arguments: ${why}. Correct it and call again.` }],
      });
    });
  });

  it("a listing that is quarantined is shown with its warning wherever it is shown", async () => {
    const trust = { ...nothingKnown, warning: "pay-to-not-ours" } as const;
    const { ask } = open({
      facilitator: {
        trust: async () => trust,
        discover: async () => ({ items: [{ ...quote, trust }], total: 1 }),
      },
    });
    const warned = [expect.stringMatching(/^Warning: .*an address that is not ours/)];
    for (const detail of ["concise", "full"]) {
      const { body } = await ask(call("search_resources", { detail }));
      expect(body.result.structuredContent.items[0].clientNotes).toEqual(warned);
    }
    const params = { uri: `x402://resources/${resourceId}` };
    const { body } = await ask({ jsonrpc: "2.0", id: 5, method: "resources/read", params });
    expect(JSON.parse(body.result.contents[0].text).clientNotes).toEqual(warned);
  });

  it("a resource that is not there has the code of the caller's era", async () => {
    const { ask } = open();
    const uris = ["x402://resources/bad", "x402://payables/bad", "x402://nothing/bad"];
    const reading = (uri: string, more = {}) => ({
      ...{ jsonrpc: "2.0", id: 4, method: "resources/read" },
      params: { uri, ...more },
    });
    const modern = (uri: string) => ({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "resources/read",
      "mcp-name": uri,
    });
    for (const uri of uris) {
      const old = await ask(reading(uri));
      expect(old.body.error).toMatchObject({ code: -32002, data: { uri } });
      const { body } = await ask(reading(uri, { _meta: envelope }), modern(uri));
      expect(body.error).toMatchObject({ code: -32602, data: { uri } });
    }
  });

  it("an unknown tool is a protocol error", async () => {
    const { body } = await open().ask(call("transfer_all"));
    expect(body.error.code).toBe(-32602);
  });
});

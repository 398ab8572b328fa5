import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fixedRates, paymentCodec, quoter } from "#api";
import type { SettlementStatus } from "#facilitator";
import { type Caller, createMcp } from "#mcp";
import {
  baseUrl,
  clock,
  fakeFacilitator,
  nothingKnown,
  offer,
  payer,
  paymentId,
  quote,
  rail,
  recordingLog,
  resourceId,
  settledAnswer,
  txHash,
  usdc,
  v2Body,
} from "../api/world.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
};

function open(changes: { facilitator?: Parameters<typeof fakeFacilitator>[0]; origins?: string[] } = {}) {
  const facilitator = fakeFacilitator(changes.facilitator);
  const log = recordingLog();
  const mcp = createMcp({
    facilitator,
    wire: paymentCodec({ facilitator, baseUrl }),
    quote: quoter({ facilitator, rates: fixedRates({ clock, log }) }),
    derive: async () => null,
    config: { baseUrl, version: "0.0.0", allowedOrigins: changes.origins },
    clock,
    log,
  });
  const ask = async (body: unknown, headers: Record<string, string> = {}, caller?: Caller) => {
    const response = await mcp.handler(
      new Request(`${baseUrl}/x402/mcp`, {
        method: "POST",
        headers: { host: "pay.example", "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
      caller,
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text), text };
  };
  return { mcp, ask, log, facilitator };
}

const call = (name: string, args: unknown = {}) => ({
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name, arguments: args },
});

describe("who may speak", () => {
  it.each([
    ["our own host", { host: "pay.example" }, 200],
    ["our own host with a port", { host: "pay.example:4020" }, 200],
    ["loopback", { host: "127.0.0.1:4020" }, 200],
    ["a foreign host", { host: "rebound.example" }, 403],
    ["no host", { host: "" }, 403],
    ["no origin", {}, 200],
    ["our own origin", { origin: "https://pay.example" }, 200],
    ["a foreign origin", { origin: "https://evil.example" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
  ])("%s: %o → %i", async (_, headers, status) => {
    const { ask } = open();
    expect((await ask(listTools, headers)).status).toBe(status);
  });

  it("a page on the list may read the answer and send our headers", async () => {
    const { mcp, ask } = open({ origins: ["chat.example"] });
    const origin = "https://chat.example";
    const { headers, status } = await ask(listTools, { origin });
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    const preflight = await mcp.handler(
      new Request(`${baseUrl}/x402/mcp`, { method: "OPTIONS", headers: { host: "pay.example", origin } }),
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("MCP-Protocol-Version");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("a page on the list may read a refusal too, and for how long it has to wait", async () => {
    const { mcp, ask } = open();
    const origin = "https://pay.example";
    const caller: Caller = {
      address: "a",
      newRequestId: () => "req_1",
      limit: async () => 7,
      delivery: { closed: new AbortController().signal, orElse: () => {} },
    };
    const limited = await ask(listTools, { origin }, caller);
    expect([limited.status, limited.headers.get("access-control-expose-headers")]).toEqual([
      429,
      expect.stringContaining("Retry-After"),
    ]);
    // Stock clients ask for a stream when they have connected, and read of the 405 that there is none.
    const stream = await mcp.handler(
      new Request(`${baseUrl}/x402/mcp`, { headers: { host: "pay.example", origin } }),
    );
    expect([stream.status, stream.headers.get("access-control-allow-origin")]).toEqual([405, origin]);
  });

  it.each(["GET", "DELETE", "PUT"])("%s is 405 and names POST", async (method) => {
    const { mcp } = open();
    const response = await mcp.handler(
      new Request(`${baseUrl}/x402/mcp`, { method, headers: { host: "pay.example" } }),
    );
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });
});

describe("what is read", () => {
  it.each([
    ["JSON only", { accept: "application/json" }],
    ["anything", { accept: "*/*" }],
    ["events only", { accept: "text/event-stream" }],
  ])("a caller who accepts %s gets JSON, without initialize", async (_, headers) => {
    const { status, headers: got, body } = await open().ask(listTools, headers);
    expect(status).toBe(200);
    expect(got.get("content-type")).toMatch(/^application\/json/);
    expect(body.result.tools).toHaveLength(9);
  });

  it.each([
    ["2026-07-28", "2025-11-25"],
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2024-11-05", "2024-11-05"],
  ])("initialize asking for %s is answered %s", async (asked, answered) => {
    const { body } = await open().ask({
      ...initialize,
      params: { ...initialize.params, protocolVersion: asked },
    });
    expect(body.result).toMatchObject({
      protocolVersion: answered,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
    });
    expect(body.result.instructions).toContain("merchant-supplied");
  });

  it.each([
    ["text that is no JSON", "{", 400, -32700],
    ["nothing", "", 400, -32700],
    ["a key twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700],
    ["a NUL in a string", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\u0000"}}', 400, -32700],
    ["a body beyond the limit", JSON.stringify({ pad: "x".repeat(257 * 1024) }), 413, -32000],
    ["a batch with an id twice", JSON.stringify([listTools, listTools]), 400, -32600],
    ["a batch of 17", JSON.stringify(Array.from({ length: 17 }, () => listTools)), 400, -32600],
  ])("%s: %#", async (_, text, status, code) => {
    const answer = await open().ask(text);
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe(code);
  });

  it("a media type that is not JSON is 415, in both eras", async () => {
    const { ask } = open();
    const headers = { "content-type": "text/plain" };
    expect((await ask(listTools, headers)).status).toBe(415);
    const modern = { ...listTools, params: { _meta: envelope } };
    expect((await ask(modern, { ...headers, "mcp-protocol-version": "2026-07-28" })).status).toBe(415);
  });

  it("a batch of the old era is answered element by element", async () => {
    const batch = [listTools, { ...listTools, id: 4, method: "prompts/list" }];
    const { status, body } = await open().ask(batch);
    expect(status).toBe(200);
    expect(body.map(({ id }: { id: number }) => id).sort()).toEqual([2, 4]);
  });

  it("the new era refuses a version it does not know, with the list, and an unknown method with 404", async () => {
    const { ask } = open();
    const unknownVersion = {
      ...listTools,
      params: { _meta: { ...envelope, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } },
    };
    const refused = await ask(unknownVersion, {
      "mcp-protocol-version": "2030-01-01",
      "mcp-method": "tools/list",
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: ["2026-07-28"] } } },
    });
    const method = "nothing/here";
    const unknown = await ask(
      { jsonrpc: "2.0", id: 1, method, params: { _meta: envelope } },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": method },
    );
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: -32601 } } });
  });

  it("the new era's lists may be cached by anybody", async () => {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const { body } = await open().ask({ ...listTools, params: { _meta: envelope } }, headers);
    expect(body.result).toMatchObject({ resultType: "complete", cacheScope: "public", ttlMs: 3_600_000 });
  });

  it("one address may hold one subscription", async () => {
    const { mcp } = open();
    const held = new AbortController();
    const caller = (closed: AbortSignal): Caller => ({
      address: "203.0.113.9",
      newRequestId: () => "req_1",
      limit: async () => null,
      delivery: { closed, orElse: () => {} },
    });
    const listen = (signal: AbortSignal) =>
      mcp.handler(
        new Request(`${baseUrl}/x402/mcp`, {
          method: "POST",
          headers: {
            host: "pay.example",
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen",
          },
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "subscriptions/listen",
            params: { notifications: { toolsListChanged: true }, _meta: envelope },
          }),
        }),
        caller(signal),
      );
    // Nothing here changes, so the stream is acknowledged and ends by itself; until it is read it counts.
    const first = await listen(held.signal);
    expect(first.status).toBe(200);
    expect((await listen(new AbortController().signal)).status).toBe(429);
    expect(await first.text()).toContain("subscriptions/acknowledged");
    expect((await listen(held.signal)).status).toBe(200);
    // And a caller who is gone counts no more.
    held.abort();
    expect((await listen(new AbortController().signal)).status).toBe(200);
    await mcp.close();
  });
});

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
    ["verify_payment", { resourceId: "x402r_1", payableId: "inv_1", paymentPayload: {} }, "paymentPayload"],
    [
      "verify_payment",
      { resourceId, paymentPayload: { payload: {} } },
      "paymentPayload.x402Version: Invalid input: expected number",
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
});

describe("the card", () => {
  it("says who and where, lists no tools, and shows a changed tool list by its hash", async () => {
    const { mcp } = open();
    const first = mcp.card(new Request(`${baseUrl}/x402/mcp/server-card`));
    const card = (await first.json()) as Record<string, unknown>;
    expect(first.headers.get("content-type")).toBe("application/mcp-server-card+json");
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
    expect(card).toMatchObject({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      // The registry's file must call us the same.
      name: JSON.parse(readFileSync(new URL("../../server.json", import.meta.url), "utf8")).name,
      version: "0.0.0",
      remotes: [{ type: "streamable-http", url: `${baseUrl}/x402/mcp` }],
      _meta: { "dev.farebox/farebox/tools": { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    });
    expect(card.tools).toBeUndefined();
    const etag = first.headers.get("etag") ?? "";
    const again = mcp.card(
      new Request(`${baseUrl}/x402/mcp/server-card`, { headers: { "if-none-match": etag } }),
    );
    expect(again.status).toBe(304);
  });
});

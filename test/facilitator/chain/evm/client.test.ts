import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "#kernel/clock";
import { systemClock } from "#kernel/system";
import { openClient } from "../../../../facilitator/chain/evm/client.ts";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { silentLog } from "../../../support/dev-chain.ts";
import { type FakeNode, type NodeAnswer, type Script, startFakeNode } from "../../../support/fake-node.ts";
import { startRpcProxy } from "../../../support/rpc-proxy.ts";

const nodes: FakeNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function node(script: (method: string) => NodeAnswer | Promise<NodeAnswer> | null = () => null) {
  const whole: Script = (method) =>
    script(method) ?? { result: method === "eth_chainId" ? "0x2105" : `said ${nodes.indexOf(started)}` };
  const started = await startFakeNode(whole);
  nodes.push(started);
  return started;
}

const treasury = `0x${"12".repeat(20)}`;
const rowOf = (...rpcUrls: string[]) => chainRow({ slug: "base", chainId: 8453, rpcUrls, treasury });
const question = { method: "test_ask", params: [], parse: String };

/** Stands still until it is moved. */
function handClock(): Clock & { pass(ms: number): void } {
  let nowMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => nowMs,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

const open = (rpcUrls: readonly string[], clock: Clock = systemClock) =>
  openClient({ row: rowOf(...rpcUrls), clock, log: silentLog });

describe("opening a chain", () => {
  it("refuses an endpoint of another chain, naming what to set and showing no key", async () => {
    const { url } = await node((method) => (method === "eth_chainId" ? { result: "0x1" } : null));
    const opened = openEvmChain({ row: rowOf(`${url}/v1/secret-key`), log: silentLog });
    const sentence = `FAREBOX_CHAINS, base: the endpoint ${new URL(url).host} answers for chain id 1, not 8453. Set rpcUrls to an endpoint of chain 8453, or correct chainId.`;
    await expect(opened).rejects.toThrow(sentence);
    await expect(opened).rejects.not.toThrow("secret-key");
  });

  it("refuses one wrong endpoint among right ones", async () => {
    const [right, wrong] = [await node(), await node(() => ({ result: "0x1" }))];
    await expect(open([right.url, wrong.url])).rejects.toThrow("answers for chain id 1");
  });

  it("is unavailable, and tells no key, when nobody answers", async () => {
    const gone = await node();
    await gone.stop();
    const error = await open([`${gone.url}/v1/secret-key`]).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: "chain_unavailable",
      kind: "dependency",
      context: { chain: "base" },
    });
    expect(`${error.message} ${error.cause.message} ${error.cause.stack}`).not.toContain("secret-key");
  });

  it("goes on with the endpoints that answer", async () => {
    const [gone, right] = [await node(), await node()];
    await gone.stop();
    const rpc = await open([gone.url, right.url]);
    expect(await rpc.request(question)).toBe("said 1");
  });
});

describe("asking", () => {
  it.each<[string, NodeAnswer]>([
    ["an HTTP error", { http: { status: 502, body: "bad gateway" } }],
    ["an answer that is no JSON", { http: { status: 200, body: "<html>" } }],
    ["a rate limit", { error: { code: -32005, message: "limit exceeded" } }],
    ["an unknown method", { error: { code: -32601, message: "method not found" } }],
    ["an internal error", { error: { code: -32603, message: "internal error" } }],
  ])("goes to the next endpoint after %s", async (_, trouble) => {
    const first = await node((method) => (method === "test_ask" ? trouble : null));
    const second = await node();
    const rpc = await open([first.url, second.url]);
    expect(await rpc.request(question)).toBe("said 1");
    expect(first.asked).toEqual(["eth_chainId", "test_ask"]);
  });

  it("takes an error of JSON-RPC for the answer below a status that says less", async () => {
    const error = { code: 3, message: "execution reverted", data: "0xe450d38c" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error });
    const { url } = await node((method) => (method === "test_ask" ? { http: { status: 400, body } } : null));
    const rpc = await open([url]);
    expect(await rpc.ask(question)).toEqual({ ok: false, error });
  });

  it("goes to the next endpoint after more than it may be sent", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "f".repeat(11_000_000) });
    const first = await node((method) => (method === "test_ask" ? { http: { status: 200, body } } : null));
    const second = await node();
    const rpc = await open([first.url, second.url]);
    expect(await rpc.request(question)).toBe("said 1");
  });

  it("shows itself by the user and password of a URL, and keeps them out of its connections", async () => {
    const { url, authorized } = await node();
    const rpc = await open([url.replace("http://", "http://us%40r:p%3Ass@")]);
    await rpc.request(question);
    expect(new Set(authorized)).toEqual(new Set([`Basic ${btoa("us@r:p:ss")}`]));
  });

  it("goes to the next endpoint after an answer of the wrong shape", async () => {
    const [first, second] = [await node(), await node()];
    const rpc = await open([first.url, second.url]);
    const parse = (result: unknown) => {
      if (result === "said 0") throw new Error("not what was asked for");
      return result;
    };
    expect(await rpc.request({ ...question, parse })).toBe("said 1");
  });

  it("takes a node's verdict as the answer, without asking another for a better one", async () => {
    const revert = { code: 3, message: "execution reverted", data: "0xE450D38C" };
    const first = await node((method) => (method === "test_ask" ? { error: revert } : null));
    const second = await node();
    const rpc = await open([first.url, second.url]);
    expect(await rpc.ask(question)).toEqual({ ok: false, error: { ...revert, data: "0xe450d38c" } });
    expect(second.asked).toEqual(["eth_chainId"]);
    await expect(rpc.request(question)).rejects.toMatchObject({ code: "chain_unavailable" });
  });

  it.each<[unknown, string | null]>([
    ["Reverted 0xe450d38c", "0xe450d38c"],
    [{ data: "0xe450d38c" }, "0xe450d38c"],
    ["no bytes here", null],
    [undefined, null],
  ])("finds the returned bytes in %j", async (data, found) => {
    const { url } = await node((method) =>
      method === "test_ask" ? { error: { code: -32015, message: "VM execution error", data } } : null,
    );
    const rpc = await open([url]);
    expect(await rpc.ask(question)).toMatchObject({ ok: false, error: { data: found } });
  });

  it("lets a failed endpoint rest, asks it last meanwhile, and checks its chain again before it believes it", async () => {
    let broken = false;
    const first = await node(() => (broken ? { http: { status: 503, body: "" } } : null));
    const second = await node();
    const clock = handClock();
    const rpc = await open([first.url, second.url], clock);
    broken = true;
    expect(await rpc.request(question)).toBe("said 1");
    broken = false;
    expect(await rpc.request(question)).toBe("said 1");
    expect(first.asked).toEqual(["eth_chainId", "test_ask"]);
    clock.pass(5001);
    expect(await rpc.request(question)).toBe("said 0");
    expect(first.asked).toEqual(["eth_chainId", "test_ask", "eth_chainId", "test_ask"]);
  });

  it("lets one that fails again and again rest longer each time, up to a minute", async () => {
    let broken = false;
    const first = await node(() => (broken ? { http: { status: 503, body: "" } } : null));
    const second = await node();
    const clock = handClock();
    const rpc = await open([first.url, second.url], clock);
    broken = true;
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      await rpc.request(question);
      const asked = first.asked.length;
      clock.pass(seconds * 1_000 - 1);
      await rpc.request(question);
      expect(first.asked.length).toBe(asked);
      clock.pass(2);
    }
  });

  it("stops believing an endpoint that came back as another chain", async () => {
    let state: "right" | "gone" | "wrong" = "right";
    const first = await node((method) => {
      if (state === "gone") return { http: { status: 503, body: "" } };
      return state === "wrong" && method === "eth_chainId" ? { result: "0x1" } : null;
    });
    const second = await node();
    const clock = handClock();
    const rpc = await open([first.url, second.url], clock);
    state = "gone";
    await rpc.request(question);
    state = "wrong";
    clock.pass(5001);
    expect(await rpc.request(question)).toBe("said 1");
    expect(first.asked.filter((method) => method === "test_ask")).toHaveLength(1);
  });

  it("is unavailable when every endpoint fails", async () => {
    const down = () => node((method) => (method === "test_ask" ? { http: { status: 500, body: "" } } : null));
    const rpc = await open([(await down()).url, (await down()).url]);
    await expect(rpc.ask(question)).rejects.toMatchObject({ code: "chain_unavailable" });
  });

  it("tells the hook every request, whether it was answered, and how long it took", async () => {
    const heard: [string, boolean][] = [];
    const first = await node((method) =>
      method === "test_ask" ? { http: { status: 500, body: "" } } : null,
    );
    const second = await node();
    const rpc = await openClient({
      row: rowOf(first.url, second.url),
      clock: handClock(),
      log: silentLog,
      onRpc: (method, ok, ms) => heard.push([method, ok && ms === 0]),
    });
    await rpc.request(question);
    expect(heard).toEqual([
      ["eth_chainId", true],
      ["eth_chainId", true],
      ["test_ask", false],
      ["test_ask", true],
    ]);
  });

  it("gives up on an endpoint that hangs, and on an answer that begins and never ends, and asks the next", async () => {
    const hanging = await node((method) => (method === "test_ask" ? new Promise(() => undefined) : null));
    const endless = await startRpcProxy((await node()).url);
    const next = await node();
    const clients = [await open([hanging.url, next.url]), await open([endless.url, next.url])];
    endless.set(async (_, _real, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc":');
      return "answered";
    });
    const waited = clients.map(async (rpc) => {
      const startedMs = performance.now();
      expect(await rpc.request(question)).toBe("said 2");
      expect(performance.now() - startedMs).toBeGreaterThan(4500);
    });
    await Promise.all(waited);
    await endless.stop();
  });
});

describe("the calls of a second", () => {
  it("are counted over all endpoints, and some are kept", async () => {
    const clock = handClock();
    const urls = [(await node()).url, (await node()).url];
    const row = chainRow({ slug: "base", chainId: 8453, rpcUrls: urls, rpcPerSecond: 10, treasury });
    const client = await openClient({ row, clock, log: silentLog });
    // each endpoint was asked for its chain, and answers twice
    await Promise.all(client.sources(2).map((ask) => ask(question)));
    expect(client.hasSpareCalls()).toBe(true);
    await Promise.all(client.sources(2).map((ask) => ask(question)));
    await client.ask(question);
    expect(client.hasSpareCalls()).toBe(false);
    // nobody who asks on is held back
    await expect(client.request(question)).resolves.toBe("said 0");
    clock.pass(500);
    expect(client.hasSpareCalls()).toBe(true);
  });
});

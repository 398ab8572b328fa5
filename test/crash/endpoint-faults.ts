/** What an endpoint may do wrong, each as it is met in the wild. */
import type { Hex } from "#kernel/bytes";
import type { DevChain } from "../support/dev-chain.ts";
import { altering, type Call, type Reply, type RpcFault, says } from "../support/rpc-proxy.ts";

type Json = Readonly<Record<string, unknown>>;

/** Made anew each time that it strikes: some begin at the chain's head. */
export type MakeFault = (dev: DevChain) => Promise<RpcFault> | RpcFault;

const HUGE = Buffer.alloc(16 << 20, " ");
const SLOW_MS = 30_000;

export const faults: Readonly<Record<string, MakeFault>> = {
  "is down": () => async (_, _real, response) => {
    response.destroy();
    return "answered";
  },
  "answers after 30 seconds": () => async (_, real) => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS).unref());
    return real();
  },
  "never ends its answers": () => async (_, _real, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc":"2.0",');
    return "answered";
  },
  "limits our rate": () => says(429, '{"error":"too many requests"}'),
  "comes back as another chain": () => {
    let hasFailed = false;
    return async (call, real, response) => {
      if (call.method === "eth_chainId") return { result: "0x1" };
      if (hasFailed) return real();
      hasFailed = true;
      return says(503, "")(call, real, response);
    };
  },
  "stays behind": staysBehind,
  "follows another branch": followsAnotherBranch,
  "answers what is no JSON": () => says(200, "<html>a friendly page</html>"),
  "answers what nobody asked for": () => altering(everything, () => ({ hello: [1, 2, 3] })),
  "answers without end": () => async (_, _real, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(HUGE);
    return "answered";
  },
  "lies in receipts": (dev) => async (call, real) => {
    if (call.method !== "eth_getTransactionReceipt") return real();
    const { hash, number } = await dev.chain.head();
    const place = { transactionHash: call.params[0], blockNumber: hex(number), blockHash: hash };
    return { result: { ...place, status: "0x0", gasUsed: "0xffffff", effectiveGasPrice: "0xffffffffff" } };
  },
  "hides logs": () => altering(["eth_getLogs"], () => []),
  "lies about amounts": () =>
    altering(["eth_getLogs"], (logs: readonly Json[]) =>
      logs.map((log) => (log.data === "0x" ? log : { ...log, data: `0x${"0".repeat(60)}ffff` })),
    ),
  "takes a transaction and answers 502": () => async (call, real, response) => {
    const reply = await real();
    return call.method === "eth_sendRawTransaction" ? says(502, "bad gateway")(call, real, response) : reply;
  },
};

const everything = [
  "eth_getBlockByNumber",
  "eth_getBlockByHash",
  "eth_getLogs",
  "eth_call",
  "eth_feeHistory",
  "eth_getTransactionCount",
  "eth_getTransactionReceipt",
  "eth_getBalance",
  "eth_sendRawTransaction",
];

/** Its newest block is the one that the chain has now, whatever comes. */
async function staysBehind(dev: DevChain): Promise<RpcFault> {
  const { number } = await dev.chain.head();
  const isNewer = (block: Json) => Number(block.number ?? block.blockNumber) > number;
  const places = ["eth_getBlockByHash", "eth_getTransactionReceipt"];
  return async ({ method, params }) => {
    if (method === "eth_sendRawTransaction") return node(dev, { method, params });
    const asked = params.map((param) => (param === "latest" ? hex(number) : param));
    if (method === "eth_getBlockByNumber" && asked[0] === "finalized") asked[0] = hex(number - 2);
    if (method === "eth_getBlockByNumber" && Number(asked[0]) > number) return { result: null };
    const reply = await node(dev, { method, params: asked });
    const isUnknown = places.includes(method) && reply.result && isNewer(reply.result as Json);
    if (isUnknown) return { result: null };
    if (method !== "eth_getLogs") return reply;
    return { result: (reply.result as readonly Json[]).filter((log) => !isNewer(log)) };
  };
}

/** Every block of its last fifty has another hash than ours, also those that were final. */
async function followsAnotherBranch(dev: DevChain): Promise<RpcFault> {
  const { number } = await dev.chain.head();
  const from = Math.max(1, number - 50);
  const forked = (block: Json | null) => {
    if (!block || Number(block.number) < from) return block;
    return { ...block, hash: other(block.hash), parentHash: other(block.parentHash) };
  };
  return async ({ method, params }, real) => {
    if (["eth_getLogs", "eth_getTransactionReceipt"].includes(method))
      return { result: method === "eth_getLogs" ? [] : null };
    const asked = method === "eth_getBlockByHash" ? [other(params[0]), ...params.slice(1)] : params;
    const reply = method === "eth_getBlockByHash" ? await node(dev, { method, params: asked }) : await real();
    if (!method.startsWith("eth_getBlockBy")) return reply;
    return { result: forked(reply.result as Json | null) };
  };
}

/** A hash that is its own other's other. */
const other = (hash: unknown) =>
  `0x${[...String(hash).slice(2)].map((digit) => (15 - Number.parseInt(digit, 16)).toString(16)).join("")}`;

async function node({ anvil }: DevChain, { method, params }: Call): Promise<Reply> {
  return { result: await anvil.rpc(method, params) };
}

const hex = (number: number): Hex => `0x${number.toString(16)}`;

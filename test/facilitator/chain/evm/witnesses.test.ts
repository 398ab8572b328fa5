/** What several endpoints of one chain must say alike before it counts. */
import { afterEach, describe, expect, it } from "vitest";
import { address, type Hash } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import type { Chain } from "../../../../facilitator/chain/port.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { silentLog } from "../../../support/dev-chain.ts";
import { type FakeNode, type NodeAnswer, startFakeNode } from "../../../support/fake-node.ts";

const nodes: FakeNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

/** How one endpoint sees the chain: its newest block, and the branch that its blocks are of. */
interface View {
  readonly height: number;
  readonly branch?: string;
  /** Transactions of whatever account. */
  readonly nonce?: number;
  /** Of whatever transaction. */
  readonly succeeded?: boolean;
  /** Of whatever account. */
  readonly balance?: number;
}
type Sight = View | "silent";

const quantity = (number: number) => `0x${number.toString(16)}`;
const hashAt = (number: number, branch = "a") =>
  `0x${branch.repeat(2)}${number.toString(16).padStart(62, "0")}`;
const blockAt = ({ branch }: View, number: number) => ({
  number: quantity(number),
  hash: hashAt(number, branch),
  parentHash: hashAt(number - 1, branch),
  timestamp: quantity(1_000 + number),
  baseFeePerGas: "0x1",
});

function seen(view: View, method: string, [first]: readonly unknown[]): NodeAnswer {
  if (method === "eth_getBlockByNumber") {
    const number = first === "latest" ? view.height : first === "finalized" ? view.height - 2 : Number(first);
    return { result: number > view.height ? null : blockAt(view, number) };
  }
  if (method === "eth_getTransactionCount") return { result: quantity(view.nonce ?? 0) };
  if (method === "eth_call") return { result: `0x${(view.balance ?? 0).toString(16).padStart(64, "0")}` };
  if (method !== "eth_getTransactionReceipt") return { error: { code: -32000, message: "not played" } };
  const place = {
    transactionHash: first,
    blockNumber: quantity(view.height),
    blockHash: hashAt(view.height, view.branch),
  };
  return {
    result: {
      ...place,
      status: view.succeeded === false ? "0x0" : "0x1",
      gasUsed: "0x1",
      effectiveGasPrice: "0x1",
    },
  };
}

interface Opened {
  readonly chain: Chain;
  readonly disagreements: () => number;
}

async function open(...sights: readonly Sight[]): Promise<Opened> {
  let isOpen = false;
  let disagreements = 0;
  const rpcUrls: string[] = [];
  for (const sight of sights) {
    const node = await startFakeNode((method, params) => {
      if (method === "eth_chainId") return { result: "0x2105" };
      if (!isOpen || sight === "silent") return { http: { status: 500, body: "" } };
      return seen(sight, method, params);
    });
    nodes.push(node);
    rpcUrls.push(node.url);
  }
  const row = {
    ...chainRow({ slug: "base", chainId: 8453, rpcUrls, treasury: `0x${"12".repeat(20)}` }),
    multicall: null,
  };
  const onDisagreement = () => {
    disagreements += 1;
  };
  const chain = await openEvmChain({ row, log: silentLog, onDisagreement });
  isOpen = true;
  return { chain, disagreements: () => disagreements };
}

const unavailable = { code: "chain_unavailable" };
const at = (height: number, more: Partial<View> = {}): View => ({ height, ...more });

describe("the head", () => {
  it.each<[string, readonly Sight[], number]>([
    ["one endpoint alone", [at(50)], 50],
    ["two that agree", [at(50), at(50)], 50],
    ["one that lags behind", [at(20), at(50)], 20],
    ["one that lags behind two", [at(20), at(50), at(50)], 50],
    ["one that runs ahead of two", [at(5_000), at(50), at(50)], 50],
    ["one on another branch than two", [at(50, { branch: "f" }), at(50), at(50)], 50],
    ["one that lags on another branch than two", [at(20, { branch: "f" }), at(50), at(50)], 50],
    ["one that is silent beside two", ["silent", at(50), at(50)], 50],
  ])("of %s", async (_, sights, height) => {
    const { chain } = await open(...sights);
    const head = await chain.head();
    expect([head.number, head.hash]).toEqual([height, hashAt(height)]);
    expect((await chain.finalized()).number).toBe(height - 2);
  });

  it("is nobody's where two contradict each other: that is told", async () => {
    const { chain, disagreements } = await open(at(50, { branch: "f" }), at(50));
    await expect(chain.head()).rejects.toMatchObject(unavailable);
    await expect(chain.blockAt(40)).rejects.toMatchObject(unavailable);
    expect(disagreements()).toBe(2);
  });

  it("is nobody's where one of two is silent", async () => {
    const { chain, disagreements } = await open("silent", at(50));
    await expect(chain.head()).rejects.toMatchObject(unavailable);
    expect(disagreements()).toBe(0);
  });
});

describe("a block", () => {
  it("is what two of three say, and the third is told of", async () => {
    const { chain, disagreements } = await open(at(50, { branch: "f" }), at(50), at(50));
    expect((await chain.blockAt(40))?.hash).toBe(hashAt(40));
    expect(disagreements()).toBe(1);
  });

  it("is not there while one of two has yet to see it", async () => {
    const { chain, disagreements } = await open(at(20), at(50));
    expect(await chain.blockAt(40)).toBeNull();
    expect(disagreements()).toBe(0);
  });
});

describe("a receipt", () => {
  const txHash = `0x${"01".repeat(32)}` as Hash;
  it("closes nothing where two contradict each other, and is what two of three say", async () => {
    const two = await open(at(50, { succeeded: false }), at(50));
    await expect(two.chain.receipt(txHash)).rejects.toMatchObject(unavailable);
    const three = await open(at(50, { succeeded: false }), at(50), at(50));
    expect(await three.chain.receipt(txHash)).toMatchObject({ succeeded: true });
  });
});

describe("a nonce", () => {
  const account = address(`0x${"34".repeat(20)}`);
  it.each<[readonly Sight[], number]>([
    [[at(50, { nonce: 7 })], 7],
    [[at(50, { nonce: 7 }), at(50, { nonce: 9 })], 7],
    [[at(50, { nonce: 3 }), at(50, { nonce: 9 }), at(50, { nonce: 9 })], 9],
    [[at(50, { nonce: 999 }), at(50, { nonce: 9 }), at(50, { nonce: 9 })], 9],
  ])("of %j is %i", async (sights, nonce) => {
    const { chain } = await open(...sights);
    expect(await chain.nonce(account, "latest")).toBe(nonce);
  });
});

describe("a balance", () => {
  const [token, account] = [address(`0x${"56".repeat(20)}`), address(`0x${"34".repeat(20)}`)];
  const [liar, honest] = [at(50, { balance: 9 }), at(50, { balance: 7 })];

  it("at a block is what two of three say, and nobody's where two contradict each other: that is told", async () => {
    const three = await open(liar, honest, honest);
    expect(await three.chain.tokenBalance(token, account, 40)).toBe(7n);
    expect(await three.chain.tokenBalances(token, [account, account], 40)).toEqual([7n, 7n]);
    const two = await open(liar, honest);
    await expect(two.chain.tokenBalance(token, account, 40)).rejects.toMatchObject(unavailable);
    await expect(two.chain.tokenBalances(token, [account], 40)).rejects.toMatchObject(unavailable);
    expect(two.disagreements()).toBe(2);
  });

  it("at a block is nobody's where one of two is silent, and that of the one there is", async () => {
    const two = await open("silent", honest);
    await expect(two.chain.tokenBalance(token, account, 40)).rejects.toMatchObject(unavailable);
    expect(two.disagreements()).toBe(0);
    const one = await open(honest);
    expect(await one.chain.tokenBalance(token, account, 40)).toBe(7n);
  });
});

import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hash, type Hex } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import type { Chain } from "../../../../facilitator/chain/port.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { authorize, devDomain, newKey } from "../../../support/authorization.ts";
import { blockOf, inOneBlock } from "../../../support/blocks.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
let chain: Chain;
let payer: { key: Hex; address: Address };
let treasury: Address;

beforeAll(async () => {
  dev = await startDevChain();
  chain = dev.chain;
  payer = { key: dev.contracts.payer.privateKey, address: address(dev.contracts.payer.address) };
  treasury = address(dev.contracts.treasury.address);
});
afterAll(() => dev?.stop());

const pay = (to: string, value: bigint) =>
  authorize({ domain: devDomain(dev.usdc), key: payer.key, to, value });

const headOf = (hash: Hex) => blockOf(dev, hash);

describe("moneyLogs", () => {
  it("has what moved to us and from us and every authorization, in the order of the block", async () => {
    const stranger = newKey();
    const ours = newKey();
    await dev.administer("mint", [ours.address, 50n]);
    const [toUs, toStranger] = [await pay(treasury, 11n), await pay(stranger.address, 22n)];
    const fromUs = await authorize({ domain: devDomain(dev.usdc), key: ours.key, to: treasury, value: 33n });
    const block = await inOneBlock(dev, async () => {
      for (const { call } of [toUs, toStranger, fromUs]) {
        const fee = { maxFeePerGas: "0x2540be400", maxPriorityFeePerGas: "0x3b9aca00" };
        await dev.anvil.rpc("eth_sendTransaction", [{ from: dev.lane, gas: "0x30d40", ...fee, ...call }]);
      }
    });

    const logs = await chain.moneyLogs(block, [treasury, ours.address]);

    const place = { token: dev.usdc, blockNumber: block.number, blockHash: block.hash };
    const used = ({ nonce, payer: from }: typeof toUs) => ({
      ...place,
      event: "authorization-used",
      payer: from,
      nonce,
    });
    const moved = (from: Address, to: Address, amount: bigint) => ({
      ...place,
      event: "transfer",
      from,
      to,
      amount,
    });
    expect(logs).toMatchObject([
      used(toUs),
      moved(payer.address, treasury, 11n),
      used(toStranger),
      used(fromUs),
      moved(ours.address, treasury, 33n), // once, though both its ends are ours
    ]);
    const indexes = (logs ?? []).map(({ logIndex }) => logIndex);
    expect(indexes).toEqual([0, 1, 2, 4, 5]);
    expect(new Set((logs ?? []).map(({ txHash }) => txHash)).size).toBe(3);
  });

  it("tells a cancelled authorization", async () => {
    const nonce = `0x${"77".repeat(32)}` as Hash;
    const data = await cancellation(payer.key, nonce);
    const block = await headOf(await dev.transact(dev.lane, { to: dev.usdc, data }));
    expect(await chain.moneyLogs(block, [])).toMatchObject([
      { event: "authorization-canceled", payer: payer.address, nonce },
    ]);
  });

  it("finds ours among more addresses than one filter takes", async () => {
    const many = Array.from({ length: 1001 }, (_, i) =>
      address(`0x${(i + 1).toString(16).padStart(40, "0")}`),
    );
    const last = many[1000] as Address;
    const block = await headOf(await dev.transact(dev.lane, (await pay(last, 1n)).call));
    const logs = await chain.moneyLogs(block, many);
    expect(logs?.map(({ event }) => event)).toEqual(["authorization-used", "transfer"]);
  });

  it("ignores tokens that are not listed", async () => {
    const row = {
      ...chainRow(dev.config),
      tokens: chain.row.tokens.filter(({ symbol }) => symbol !== "USDC"),
    };
    const others = await openEvmChain({ row, log: silentLog });
    const block = await headOf(await dev.transact(dev.lane, (await pay(treasury, 1n)).call));
    expect(await others.moneyLogs(block, [treasury])).toEqual([]);
  });

  it("is null for a block that the node does not know", async () => {
    const head = await chain.head();
    expect(await chain.moneyLogs({ ...head, hash: `0x${"ab".repeat(32)}` as Hash }, [treasury])).toBeNull();
  });

  it("is null for a block that a reorganisation dropped", async () => {
    const block = await headOf(await dev.transact(dev.lane, (await pay(treasury, 1n)).call));
    expect(await chain.moneyLogs(block, [treasury])).toHaveLength(2);
    await dev.anvil.rpc("anvil_reorg", [1, []]);
    expect(await chain.moneyLogs(block, [treasury])).toBeNull();
  });
});

describe("moneyLogs of an odd endpoint", () => {
  it("is null for an unknown block, also where the node answers with no logs", async () => {
    const node = await startFakeNode(async (method, params) =>
      method === "eth_getLogs" ? { result: [] } : { result: await dev.anvil.rpc(method, params) },
    );
    try {
      const other = await openEvmChain({
        row: chainRow({ ...dev.config, rpcUrls: [node.url] }),
        log: silentLog,
      });
      const head = await other.head();
      expect(await other.moneyLogs(head, [treasury])).toEqual([]);
      expect(await other.moneyLogs({ ...head, hash: `0x${"ab".repeat(32)}` as Hash }, [treasury])).toBeNull();
    } finally {
      await node.stop();
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ["another block", { blockHash: `0x${"ab".repeat(32)}` }],
    ["another contract", { address: `0x${"ab".repeat(20)}` }],
    ["a block that was removed", { removed: true }],
    ["no amount", { data: "0x" }],
    ["no address", { topics: [`0x${"dd".repeat(32)}`, `0x${"ff".repeat(32)}`, `0x${"ff".repeat(32)}`] }],
  ])("does not believe a log of %s", async (_, change) => {
    const node = await startFakeNode(async (method, params) => {
      const result = await dev.anvil.rpc(method, params);
      if (method !== "eth_getLogs") return { result };
      return { result: (result as object[]).map((log) => ({ ...log, ...change })) };
    });
    try {
      const other = await openEvmChain({
        row: chainRow({ ...dev.config, rpcUrls: [node.url] }),
        log: silentLog,
      });
      const block = await headOf(await dev.transact(dev.lane, (await pay(treasury, 1n)).call));
      await expect(other.moneyLogs(block, [treasury])).rejects.toMatchObject({ code: "chain_unavailable" });
    } finally {
      await node.stop();
    }
  });
});

describe("moneyLogs of two endpoints", () => {
  it("believes them when they say the same, and nobody when they differ", async () => {
    let lie: ((result: unknown) => unknown) | null = null;
    const relay = await startFakeNode(async (method, params) => {
      const result = await dev.anvil.rpc(method, params);
      return { result: lie && method === "eth_getLogs" ? lie(result) : result };
    });
    try {
      const errors: string[] = [];
      const log = { ...silentLog, error: (_: unknown, message: string) => void errors.push(message) };
      const row = chainRow({ ...dev.config, rpcUrls: [dev.anvil.rpcUrl, relay.url] });
      let told = 0;
      const both = await openEvmChain({
        row,
        log,
        onDisagreement: () => {
          told += 1;
        },
      });
      const block = await headOf(await dev.transact(dev.lane, (await pay(treasury, 1n)).call));
      expect(await both.moneyLogs(block, [treasury])).toHaveLength(2);

      lie = () => [];
      await expect(both.moneyLogs(block, [treasury])).rejects.toMatchObject({ code: "chain_unavailable" });
      lie = (result) =>
        (result as { data: string }[]).map((one) => ({ ...one, data: `0x${"0".repeat(63)}9` }));
      await expect(both.moneyLogs(block, [treasury])).rejects.toMatchObject({ code: "chain_unavailable" });
      expect(errors).toEqual(Array(2).fill(`endpoints disagree about the logs of block ${block.number}`));
      expect(told).toBe(2);

      lie = null;
      await relay.stop();
      await expect(both.moneyLogs(block, [treasury])).rejects.toMatchObject({ code: "chain_unavailable" });
    } finally {
      await relay.stop();
    }
  });
});

describe("findAuthorizationUse", () => {
  it("finds the block of the use, wherever it lies, and nothing that was not used", async () => {
    const { anvil, usdc } = dev;
    const start = await chain.head();
    await anvil.mine(20);
    const paid = await pay(newKey().address, 1n);
    const block = await headOf(await dev.transact(dev.lane, paid.call));
    await anvil.mine(10);
    const search = { token: usdc, payer: payer.address, nonce: paid.nonce, fromBlock: start.number };
    expect(await chain.findAuthorizationUse(search)).toEqual(block);
    expect(await chain.findAuthorizationUse({ ...search, fromBlock: block.number })).toEqual(block);
    expect(await chain.findAuthorizationUse({ ...search, fromBlock: block.number + 1 })).toBeNull();
    expect(await chain.findAuthorizationUse({ ...search, fromBlock: block.number + 1000 })).toBeNull();
    expect(await chain.findAuthorizationUse({ ...search, payer: newKey().address })).toBeNull();
  });

  it("finds the block of a cancellation as well: it spends the nonce", async () => {
    const nonce = `0x${"78".repeat(32)}` as Hash;
    const { number } = await chain.head();
    const hash = await dev.transact(dev.lane, { to: dev.usdc, data: await cancellation(payer.key, nonce) });
    const search = { token: dev.usdc, payer: payer.address, nonce, fromBlock: number };
    expect(await chain.findAuthorizationUse(search)).toEqual(await headOf(hash));
  });

  it("asks about the newest blocks first, and for less when an endpoint refuses a wide range", async () => {
    const widths: number[] = [];
    const narrow = await startFakeNode(async (method, params) => {
      const [filter] = params as [{ fromBlock: Hex; toBlock: Hex }];
      if (method === "eth_getLogs") {
        widths.push(Number(filter.toBlock) - Number(filter.fromBlock) + 1);
        if ((widths.at(-1) ?? 0) > 100)
          return { error: { code: -32602, message: "query exceeds max block range" } };
      }
      return { result: await dev.anvil.rpc(method, params) };
    });
    try {
      const row = chainRow({ ...dev.config, rpcUrls: [narrow.url] });
      const other = await openEvmChain({ row, log: silentLog });
      const paid = await pay(newKey().address, 1n);
      const block = await headOf(await dev.transact(dev.lane, paid.call));
      await dev.anvil.mine(200);
      const search = {
        token: dev.usdc,
        payer: payer.address,
        nonce: paid.nonce,
        fromBlock: block.number,
      };
      expect(await other.findAuthorizationUse(search)).toEqual(block);
      expect(widths.splice(0)).toEqual([201, 201, 201, 78, 78, 45]); // 5000, 1250, 312, then what is allowed
      const late = await pay(newKey().address, 1n);
      const last = await headOf(await dev.transact(dev.lane, late.call));
      expect(await other.findAuthorizationUse({ ...search, nonce: late.nonce })).toEqual(last);
      expect(widths).toEqual([202, 202, 202, 78]);
    } finally {
      await narrow.stop();
    }
  });
});

/** Calldata of a cancellation that `key` signed. */
async function cancellation(key: Hex, nonce: Hash): Promise<Hex> {
  const account = privateKeyToAccount(key);
  const message = { authorizer: account.address, nonce };
  const signature = await account.signTypedData({
    domain: devDomain(dev.usdc),
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message,
  });
  const abi = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
  return encodeFunctionData({ abi, args: [account.address, nonce, signature] });
}

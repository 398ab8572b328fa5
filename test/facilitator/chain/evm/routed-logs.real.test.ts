import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hex } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import type { OrderTerms } from "../../../../facilitator/chain/evm/order.ts";
import type { BlockRef, Chain } from "../../../../facilitator/chain/port.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { authorize, devDomain, newKey } from "../../../support/authorization.ts";
import { blockOf, inOneBlock } from "../../../support/blocks.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { startFakeNode } from "../../../support/fake-node.ts";
import { allowRouter, newOrder, payOrder, routerCall, signOrder } from "../../../support/router.ts";

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
}

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

/** An order, paid; with the block and the transaction that paid it. */
async function paidOrder() {
  const order = newOrder(dev);
  const txHash = await payOrder(dev, payer.address, { order, signature: await signOrder(dev, order) });
  return { order, txHash, block: await blockOf(dev, txHash) };
}

describe("moneyLogs of a chain with a router", () => {
  const routed = (order: OrderTerms, block: BlockRef) => ({
    event: "routed",
    paymentRef: order.paymentRef,
    payer: payer.address,
    payTo: order.payTo,
    token: order.token,
    amount: order.amount,
    blockNumber: block.number,
    blockHash: block.hash,
  });

  it("tells the order that was paid right behind its transfer", async () => {
    const { order, txHash, block } = await paidOrder();
    const moved = { event: "transfer", from: payer.address, to: treasury, amount: 5n, token: dev.usdc };
    expect(await chain.moneyLogs(block, [treasury])).toEqual([
      { ...moved, txHash, blockNumber: block.number, blockHash: block.hash, logIndex: 0 },
      { ...routed(order, block), txHash, logIndex: 1 },
    ]);
    expect(await chain.moneyLogs(block, [])).toEqual([{ ...routed(order, block), txHash, logIndex: 1 }]);
  });

  it("has several payments in the order of the block, between other money", async () => {
    const orders = [newOrder(dev), newOrder(dev, { amount: 6n })];
    const signatures = await Promise.all(orders.map((order) => signOrder(dev, order)));
    const plain = await authorize({ domain: devDomain(dev.usdc), key: payer.key, to: treasury, value: 7n });
    await allowRouter(dev, payer.address);
    const [first, second] = orders.map((order, i) => routerCall(dev, order, signatures[i] ?? "0x"));
    const block = await inOneBlock(dev, async () => {
      for (const [i, call] of [first, plain.call, second].entries()) {
        const from = i === 1 ? dev.lane : payer.address;
        // Falling fees keep the order of sending.
        const fee = { maxFeePerGas: "0x2540be400", maxPriorityFeePerGas: `0x${(3 - i).toString(16)}3b9aca0` };
        await dev.anvil.rpc("eth_sendTransaction", [{ from, gas: "0x493e0", ...fee, ...call }]);
      }
    });
    const logs = (await chain.moneyLogs(block, [treasury])) ?? [];
    expect(logs.map(({ event, logIndex }) => `${logIndex} ${event}`)).toEqual([
      "0 transfer",
      "1 routed",
      "2 authorization-used",
      "3 transfer",
      "4 transfer",
      "5 routed",
    ]);
    expect(logs.filter(({ event }) => event === "routed")).toMatchObject(
      orders.map((order) => routed(order, block)),
    );
  });

  it("leaves out what was paid in a token that is not listed, and everything where no router is set", async () => {
    const { block } = await paidOrder();
    const row = chainRow(dev.config);
    const tokens = row.tokens.filter(({ contract }) => contract !== dev.usdc);
    const unlisted = await openEvmChain({ row: { ...row, tokens }, log: silentLog });
    expect(await unlisted.moneyLogs(block, [treasury])).toEqual([]);
    const without = await openEvmChain({ row: { ...row, router: null }, log: silentLog });
    expect(await without.moneyLogs(block, [treasury])).toMatchObject([{ event: "transfer" }]);
  });

  it("does not take another contract's word for a payment", async () => {
    const { block } = await paidOrder();
    const row = { ...chainRow(dev.config), router: newKey().address };
    const other = await openEvmChain({ row, log: silentLog });
    const logs = await other.moneyLogs(block, [treasury]);
    expect(logs).toMatchObject([{ event: "transfer" }]);
  });

  it.each<[string, (log: Log) => object]>([
    ["another event", ({ topics: [, ...rest] }) => ({ topics: [`0x${"dd".repeat(32)}`, ...rest] })],
    ["fewer fields", ({ topics }) => ({ topics: topics.slice(0, 3) })],
    ["no payee", () => ({ data: `0x${"ff".repeat(64)}` })],
    ["half its data", () => ({ data: `0x${"00".repeat(32)}` })],
    ["another contract", () => ({ address: `0x${"ab".repeat(20)}` })],
    ["another block", () => ({ blockHash: `0x${"ab".repeat(32)}` })],
  ])("does not believe a payment of %s", async (_, change) => {
    const router = dev.contracts.router.toLowerCase();
    const node = await startFakeNode(async (method, params) => {
      const result = await dev.anvil.rpc(method, params);
      if (method !== "eth_getLogs") return { result };
      const bent = (log: Log) => (log.address === router ? { ...log, ...change(log) } : log);
      return { result: (result as Log[]).map(bent) };
    });
    try {
      const other = await openEvmChain({
        row: chainRow({ ...dev.config, rpcUrls: [node.url] }),
        log: silentLog,
      });
      const { block } = await paidOrder();
      await expect(other.moneyLogs(block, [treasury])).rejects.toMatchObject({
        code: "chain_unavailable",
      });
    } finally {
      await node.stop();
    }
  });

  it("needs two endpoints to tell the same payments, where there are two", async () => {
    let hides = false;
    const relay = await startFakeNode(async (method, params) => {
      const result = await dev.anvil.rpc(method, params);
      const isOfRouter = JSON.stringify(params).includes(dev.contracts.router.toLowerCase());
      return { result: hides && method === "eth_getLogs" && isOfRouter ? [] : result };
    });
    try {
      const row = chainRow({ ...dev.config, rpcUrls: [dev.anvil.rpcUrl, relay.url] });
      const both = await openEvmChain({ row, log: silentLog });
      const { block } = await paidOrder();
      expect(await both.moneyLogs(block, [treasury])).toHaveLength(2);
      hides = true;
      await expect(both.moneyLogs(block, [treasury])).rejects.toMatchObject({ code: "chain_unavailable" });
    } finally {
      await relay.stop();
    }
  });
});

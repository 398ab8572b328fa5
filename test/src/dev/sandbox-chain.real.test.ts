/** A payer and a miner at the local chain, as the sandbox's test routes have them. */
import { encodeFunctionData, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { address, type Hash, type Hex, hash } from "#kernel/bytes";
import { sandboxChain } from "../../../src/dev/sandbox-chain.ts";
import { newKey } from "../../support/authorization.ts";
import { type DevChain, masterSecret, startDevChain } from "../../support/dev-chain.ts";
import { startFakeNode } from "../../support/fake-node.ts";
import { until } from "../../support/house.ts";

let dev: DevChain;
let sandbox: ReturnType<typeof sandboxChain>;
beforeAll(async () => {
  dev = await startDevChain();
  sandbox = sandboxChain({ slug: "local", rpcUrl: dev.anvil.rpcUrl, masterSecret });
});
afterAll(() => dev.stop());

const balance = (of: string) => dev.chain.tokenBalance(dev.usdc, address(of), "latest");
async function receipt(transaction: Hash) {
  const ask = () =>
    dev.anvil.rpc<{ status: Hex; blockNumber: Hex } | null>("eth_getTransactionReceipt", [transaction]);
  await until(async () => (await ask()) !== null, "it is mined");
  return ask();
}

describe("transfer", () => {
  it("moves the dev payer's tokens, without his key", async () => {
    const { payer } = dev.contracts;
    const [to, before] = [newKey().address, await balance(payer.address)];
    const sent = await sandbox.transfer({ token: dev.usdc, to, amount: 1_230_000n });
    expect(await receipt(sent)).toMatchObject({ status: "0x1" });
    expect([await balance(to), before - (await balance(payer.address))]).toEqual([1_230_000n, 1_230_000n]);
  });

  it("gives the payer what is missing first, and no more", async () => {
    const to = newKey().address;
    const amount = (await balance(dev.contracts.payer.address)) + 5n;
    await receipt(await sandbox.transfer({ token: dev.usdc, to, amount }));
    expect([await balance(to), await balance(dev.contracts.payer.address)]).toEqual([amount, 0n]);
  });

  it("sends many that are asked for at once", async () => {
    const to = newKey().address;
    const sent = await Promise.all(
      [1n, 2n, 3n].map((amount) => sandbox.transfer({ token: dev.usdc, to, amount })),
    );
    for (const each of sent) expect(await receipt(each)).toMatchObject({ status: "0x1" });
    expect(await balance(to)).toBe(6n);
  });

  it("counts on nothing that an earlier one takes which is not mined yet", async () => {
    const { rpc } = dev.anvil;
    const waiting = async () => BigInt((await rpc<{ pending: Hex }>("txpool_status", [])).pending);
    const to = newKey().address;
    await receipt(
      await sandbox.transfer({ token: dev.usdc, to: address(dev.contracts.payer.address), amount: 5n }),
    );
    const amount = await balance(dev.contracts.payer.address);
    await rpc("evm_setAutomine", [false]);
    onTestFinished(() => rpc("evm_setAutomine", [true]));
    const first = await sandbox.transfer({ token: dev.usdc, to, amount });
    const second = sandbox.transfer({ token: dev.usdc, to, amount });
    await until(async () => (await waiting()) === 2n, "the second has met the first");
    await rpc("evm_setAutomine", [true]);
    await dev.anvil.mine();
    for (const each of [first, await second]) expect(await receipt(each)).toMatchObject({ status: "0x1" });
    expect(await balance(to)).toBe(2n * amount);
  });

  it("rejects a token that is none", async () => {
    const token = newKey().address;
    await expect(sandbox.transfer({ token, to: token, amount: 1n })).rejects.toThrow();
  });
});

describe("a chain that does not do its part", () => {
  const none = `0x${"0".repeat(64)}` as const;
  const move = { token: address(`0x${"c1".repeat(20)}`), to: newKey().address, amount: 1n };
  const at = (rpcUrl: string) => sandboxChain({ slug: "local", rpcUrl, masterSecret });

  it("is an outage where what the payer needs is never mined, as after a reorganisation", async () => {
    const answers: Readonly<Record<string, unknown>> = { eth_sendTransaction: none, eth_call: none };
    const node = await startFakeNode((method) => ({
      result: method === "eth_getBalance" ? "0xde0b6b3a7640000" : (answers[method] ?? null),
    }));
    onTestFinished(node.stop);
    await expect(at(node.url).transfer(move)).rejects.toMatchObject({ code: "chain_unavailable" });
  });

  it("is an outage where it does not answer", async () => {
    await expect(at("http://127.0.0.1:1").transfer(move)).rejects.toMatchObject({
      code: "chain_unavailable",
    });
    await expect(at("http://127.0.0.1:1").reorg(1)).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});

describe("payOrder", () => {
  it("asks the router, with an allowance: an order that nobody signed is mined and moves nothing", async () => {
    const { router } = dev.contracts;
    const payTo = newKey().address;
    const sent = await sandbox.payOrder({
      router: address(router),
      paymentRef: hash(`0x${"11".repeat(32)}`),
      token: dev.usdc,
      payTo,
      amount: 5n,
      deadline: 2_000_000_000n,
      signature: `0x${"00".repeat(65)}`,
    });
    expect(await receipt(sent)).toMatchObject({ status: "0x0" });
    expect(await balance(payTo)).toBe(0n);
    const allowance = encodeFunctionData({
      abi: parseAbi(["function allowance(address owner, address spender) view returns (uint256)"]),
      args: [dev.contracts.payer.address, router],
    });
    expect(BigInt(await dev.anvil.rpc<Hex>("eth_call", [{ to: dev.usdc, data: allowance }, "latest"]))).toBe(
      5n,
    );
  });
});

describe("reorg", () => {
  it("keeps the node from mining meanwhile: a block that falls due would be put on what is taken away", async () => {
    const answers: Readonly<Record<string, unknown>> = { anvil_getIntervalMining: 1, eth_blockNumber: "0x5" };
    const node = await startFakeNode((method, [tag]) => {
      if (method !== "eth_getBlockByNumber") return { result: answers[method] ?? null };
      return { result: { number: tag === "latest" ? "0x5" : "0x3" } };
    });
    onTestFinished(node.stop);
    expect(await sandboxChain({ slug: "local", rpcUrl: node.url, masterSecret }).reorg(1)).toBe(true);
    const told = node.asked.filter((method) => /^(evm_set|anvil_reorg|eth_getBlock)/.test(method));
    const looks = ["eth_getBlockByNumber", "eth_getBlockByNumber"];
    expect(told).toEqual(["evm_setIntervalMining", ...looks, "anvil_reorg", "evm_setIntervalMining"]);
  });

  it("takes away what the newest blocks held, and nothing that is final", async () => {
    await dev.anvil.mine(5);
    const to = newKey().address;
    await receipt(await sandbox.transfer({ token: dev.usdc, to, amount: 7n }));
    expect(await balance(to)).toBe(7n);
    const { number, hash: gone } = await dev.chain.head();
    expect(await sandbox.reorg(1)).toBe(true);
    expect(await balance(to)).toBe(0n);
    expect((await dev.chain.blockAt(number))?.hash).not.toBe(gone);
    const final = await dev.chain.head();
    expect(await sandbox.reorg(3)).toBe(false);
    expect((await dev.chain.head()).hash).toBe(final.hash);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { address, type Hash } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
beforeAll(async () => {
  dev = await startDevChain();
  await dev.anvil.mine(3, 7);
});
afterAll(() => dev?.stop());

describe("blocks", () => {
  it("hang together by parent hash, with their times and base fees", async () => {
    const head = await dev.chain.head();
    const parent = await dev.chain.blockAt(head.number - 1);
    expect(head.parentHash).toBe(parent?.hash);
    expect(head.timestamp - (parent?.timestamp ?? 0)).toBe(7);
    expect(head.baseFeePerGas).toBeGreaterThan(0n);
    expect(await dev.chain.blockAt(head.number)).toEqual(head);
  });

  it("are final two behind the head on the local chain", async () => {
    const [head, finalized] = [await dev.chain.head(), await dev.chain.finalized()];
    expect(head.number - finalized.number).toBe(2);
  });

  it("are null above the head", async () => {
    const head = await dev.chain.head();
    expect(await dev.chain.blockAt(head.number + 1)).toBeNull();
  });
});

describe("accounts", () => {
  it("have their nonce, money and code", async () => {
    const [first] = dev.contracts.signers;
    const nobody = newKey().address;
    expect(await dev.chain.nonce(nobody, "latest")).toBe(0);
    expect(await dev.chain.nonce(address(dev.contracts.deployer.address), "latest")).toBeGreaterThan(5);
    expect(await dev.chain.nativeBalance(address(first?.address ?? ""), "latest")).toBe(100n * 10n ** 18n);
    expect(await dev.chain.tokenBalance(dev.usdc, nobody, "latest")).toBe(0n);
    expect(await dev.chain.code(nobody)).toBe("0x");
    expect((await dev.chain.code(dev.usdc)).length).toBeGreaterThan(2);
  });

  it("have code or none, hundreds in one answer", async () => {
    const many = Array.from({ length: 700 }, (_, i) => (i % 70 === 0 ? dev.usdc : newKey().address));
    expect(await dev.chain.haveCode(many)).toEqual(many.map((account) => account === dev.usdc));
  });

  it("have no token balance where there is no token: that is an outage, not zero", async () => {
    const call = dev.chain.tokenBalance(newKey().address, dev.lane, "latest");
    await expect(call).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});

describe("receipt", () => {
  it("tells a failed transaction from a mined one, and is null for an unknown hash", async () => {
    const from = dev.contracts.payer.address;
    const call = { from, to: dev.usdc, data: "0x40c10f19", gas: "0x186a0" };
    const sent = await dev.anvil.rpc<{ transactionHash: Hash }>("eth_sendTransactionSync", [call]);
    const txHash = sent.transactionHash;
    const receipt = await dev.chain.receipt(txHash);
    expect(receipt).toMatchObject({ txHash, succeeded: false });
    expect(receipt?.gasUsed).toBeGreaterThan(21_000n);
    expect(receipt?.effectiveGasPrice).toBeGreaterThan(0n);
    expect(await dev.chain.receipt(`0x${"ab".repeat(32)}` as Hash)).toBeNull();
  });
});

describe("fees", () => {
  it("are the next block's base fee and a tip above nothing", async () => {
    const head = await dev.chain.head();
    const { baseFeePerGas, maxPriorityFeePerGas } = await dev.chain.fees();
    expect(baseFeePerGas).toBeGreaterThan((head.baseFeePerGas * 7n) / 8n - 1n);
    expect(baseFeePerGas).toBeLessThan((head.baseFeePerGas * 9n) / 8n + 1n);
    expect(maxPriorityFeePerGas).toBeGreaterThanOrEqual(1_000_000n);
  });

  it("take the middle tip of the last blocks: what was enough in each, and never none", async () => {
    let reward: unknown;
    let gasUsedRatio: unknown;
    const node = await startFakeNode(async (method, params) =>
      method === "eth_feeHistory"
        ? { result: { baseFeePerGas: ["0x1", "0x64"], gasUsedRatio, reward } }
        : { result: await dev.anvil.rpc(method, params) },
    );
    try {
      const row = chainRow({ ...dev.config, rpcUrls: [node.url] });
      const chain = await openEvmChain({ row, log: silentLog });
      const tip = async (blocks: readonly (readonly [number, string, string])[] | null) => {
        reward = blocks?.map(([, cheap, middle]) => [cheap, middle]) ?? null;
        gasUsedRatio = blocks?.map(([ratio]) => ratio) ?? null;
        return (await chain.fees()).maxPriorityFeePerGas;
      };
      const full = [0.99, "0x2", "0x1dcd6500"] as const;
      expect(await chain.fees()).toMatchObject({ baseFeePerGas: 100n, hasRoom: true });
      expect(
        await tip([[0.95, "0x2", "0x5f5e100"], [0.95, "0x2", "0x0"], [0.95, "0x2", "0xbebc200"], full]),
      ).toBe(200_000_000n);
      // others gave much in blocks that had room for everybody
      expect(await tip([[0.5, "0x5f5e100", "0x174876e800"], [0.1, "0x5f5e100", "0x174876e800"], full])).toBe(
        100_000_000n,
      );
      expect(await chain.fees()).toMatchObject({ hasRoom: false });
      expect(await tip([[0.5, "0x0", "0x0"]])).toBe(1_000_000n);
      expect(await tip(null)).toBe(1_000_000n);
    } finally {
      await node.stop();
    }
  });
});

describe("an outage", () => {
  it("is chain_unavailable for every read, naming the chain", async () => {
    const node = await startFakeNode(async (method, params) => ({
      result: await dev.anvil.rpc(method, params),
    }));
    const row = chainRow({ ...dev.config, rpcUrls: [node.url] });
    const chain = await openEvmChain({ row, log: silentLog });
    const block = await chain.head();
    await node.stop();
    const nonce = `0x${"01".repeat(32)}` as Hash;
    const transfer = { to: dev.usdc, data: "0x" as const };
    const reads = [
      chain.head(),
      chain.finalized(),
      chain.blockAt(1),
      chain.moneyLogs(block, [dev.lane]),
      chain.findAuthorizationUse({ token: dev.usdc, payer: dev.lane, nonce, fromBlock: 0 }),
      chain.readAuthorizations(dev.lane, [{ token: dev.usdc, payer: dev.lane, nonce, transfer }]),
      chain.simulate(dev.lane, [transfer], 100_000n),
      chain.nonce(dev.lane, "latest"),
      chain.nativeBalance(dev.lane, 1),
      chain.tokenBalance(dev.usdc, dev.lane, "latest"),
      chain.code(dev.usdc),
      chain.isValidSignature(dev.usdc, nonce, "0x"),
      chain.fees(),
      chain.receipt(nonce),
      chain.tokenFacts(dev.usdc),
    ];
    for (const read of await Promise.allSettled(reads)) {
      expect(read).toMatchObject({
        status: "rejected",
        reason: { code: "chain_unavailable", kind: "dependency", context: { chain: "local" } },
      });
    }
    expect(await chain.send("0x02")).toBe("unknown");
  });
});

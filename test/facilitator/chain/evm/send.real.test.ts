import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { address, type Hex } from "#kernel/bytes";
import { localSigner, openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import { sendResultOf } from "../../../../facilitator/chain/evm/send.ts";
import type { SendResult, Signer, TransactionRequest } from "../../../../facilitator/chain/port.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { authorize, devDomain, newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
let signer: Signer;

beforeAll(async () => {
  dev = await startDevChain();
  await dev.anvil.rpc("evm_setAutomine", [false]);
  signer = localSigner(dev.contracts.signers[0]?.privateKey ?? "", [dev.chain.row]);
});
afterAll(() => dev?.stop());

const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

async function signed(request: Partial<TransactionRequest> = {}, by: Signer = signer): Promise<Hex> {
  const nonce = await dev.chain.nonce(by.address, "latest");
  const calls = [{ to: by.address, data: "0x" as const }];
  const { raw } = await by.sign(dev.chain.row, { nonce, calls, gasLimit: 21_000n, ...fees, ...request });
  return raw;
}

describe("send", () => {
  it("is accepted, then already known, and after its block the nonce is too low", async () => {
    const raw = await signed();
    expect(await dev.chain.send(raw)).toBe("accepted");
    expect(await dev.chain.send(raw)).toBe("already-known");
    const other = await signed({ maxFeePerGas: fees.maxFeePerGas - 1n });
    expect(await dev.chain.send(other)).toBe("underpriced");
    const higher = await signed({ maxFeePerGas: 23_000_000_000n, maxPriorityFeePerGas: 1_150_000_000n });
    expect(await dev.chain.send(higher)).toBe("accepted");
    await dev.anvil.mine();
    expect(await dev.chain.send(raw)).toBe("nonce-too-low");
  });

  it("leaves the outcome open for a nonce that has a gap before it", async () => {
    const raw = await signed({ nonce: (await dev.chain.nonce(signer.address, "latest")) + 3 });
    expect(["accepted", "unknown"]).toContain(await dev.chain.send(raw));
  });

  it("is refused for too little gas, no money for gas, another chain, and bytes that are no transaction", async () => {
    expect(await dev.chain.send(await signed({ gasLimit: 20_000n }))).toBe("refused");
    const poor = localSigner(newKey().key, [dev.chain.row]);
    expect(await dev.chain.send(await signed({}, poor))).toBe("refused");
    const elsewhere = { ...dev.chain.row, chainId: 1 };
    const foreign = localSigner(dev.contracts.signers[1]?.privateKey ?? "", [elsewhere]);
    const calls = [{ to: foreign.address, data: "0x" as const }];
    const { raw } = await foreign.sign(elsewhere, { nonce: 0, calls, gasLimit: 21_000n, ...fees });
    expect(await dev.chain.send(raw)).toBe("refused");
    expect(await dev.chain.send("0x02f8")).toBe("refused");
  });

  it("is unknown when the endpoint takes the bytes and does not answer", async () => {
    const relay = await startFakeNode(async (method, params) => {
      const result = await dev.anvil.rpc(method, params);
      return method === "eth_sendRawTransaction" ? { http: { status: 502, body: "" } } : { result };
    });
    try {
      const other = await openEvmChain({
        row: chainRow({ ...dev.config, rpcUrls: [relay.url] }),
        log: silentLog,
      });
      const by = localSigner(dev.contracts.signers[2]?.privateKey ?? "", [dev.chain.row]);
      const raw = await signed({}, by);
      expect(await other.send(raw)).toBe("unknown");
      expect(await dev.chain.send(raw)).toBe("already-known"); // it was in the pool all the time
    } finally {
      await relay.stop();
    }
  });

  it("goes to both endpoints, and is only refused when both refuse", async () => {
    let saying: () => { result?: unknown; error?: { code: number; message: string } };
    const relay = await startFakeNode(async (method, params) =>
      method === "eth_sendRawTransaction" ? saying() : { result: await dev.anvil.rpc(method, params) },
    );
    try {
      const row = chainRow({ ...dev.config, rpcUrls: [relay.url, dev.anvil.rpcUrl] });
      const both = await openEvmChain({ row, log: silentLog });
      const refusal = { error: { code: -32000, message: "insufficient funds for gas * price + value" } };
      saying = () => refusal;
      const by = localSigner(dev.contracts.signers[3]?.privateKey ?? "", [dev.chain.row]);
      expect(await both.send(await signed({}, by))).toBe("accepted");
      expect(await both.send(await signed({ gasLimit: 20_000n }, by))).toBe("refused");
      saying = () => ({ error: { code: -32000, message: "txpool is full" } });
      expect(await both.send(await signed({ gasLimit: 20_000n }, by))).toBe("unknown");
    } finally {
      await relay.stop();
    }
  });

  it("mines a signed batch under the hash that was known before", async () => {
    const payer = dev.contracts.payer.privateKey;
    const pay = () =>
      authorize({ domain: devDomain(dev.usdc), key: payer, to: dev.contracts.treasury.address, value: 3n });
    const batcher = localSigner(dev.contracts.signers[3]?.privateKey ?? "", [dev.chain.row]);
    await dev.anvil.mine();
    const nonce = await dev.chain.nonce(batcher.address, "latest");
    const calls = [(await pay()).call, (await pay()).call];
    const request = { nonce, calls, gasLimit: 400_000n, ...fees };
    const { raw, hash } = await batcher.sign(dev.chain.row, request);
    const treasury = address(dev.contracts.treasury.address);
    const before = await dev.chain.tokenBalance(dev.usdc, treasury, "latest");
    expect(await dev.chain.receipt(hash)).toBeNull();
    await dev.chain.send(raw);
    await dev.anvil.mine();
    const head = await dev.chain.head();
    expect(await dev.chain.receipt(hash)).toMatchObject({
      txHash: hash,
      blockNumber: head.number,
      blockHash: head.hash,
      succeeded: true,
    });
    expect(await dev.chain.tokenBalance(dev.usdc, treasury, "latest")).toBe(before + 6n);
    expect(await dev.chain.tokenBalance(dev.usdc, treasury, head.number - 1)).toBe(before);
    expect(await dev.chain.nonce(batcher.address, head.number)).toBe(nonce + 1);
    expect(await dev.chain.nonce(batcher.address, head.number - 1)).toBe(nonce);
  });
});

describe("sendResultOf", () => {
  it.each<[string, SendResult]>([
    ["already known", "already-known"],
    ["AlreadyKnown", "already-known"],
    ["known transaction: 0xab", "already-known"],
    ["transaction already imported", "already-known"],
    ["nonce too low: next nonce 8, tx nonce 7", "nonce-too-low"],
    ["replacement transaction underpriced", "underpriced"],
    ["transaction underpriced: tip needed 1, tip permitted 0", "underpriced"],
    ["max fee per gas less than block base fee", "underpriced"],
    ["insufficient funds for gas * price + value: have 0 want 1", "refused"],
    ["intrinsic gas too low", "refused"],
    ["invalid chain id for signer: have 1 want 2", "refused"],
    ["exceeds block gas limit", "refused"],
    ["rlp: expected input list", "refused"],
    ["nonce too high", "unknown"],
    ["txpool is full", "unknown"],
    ["in-flight transaction limit reached for delegated accounts", "unknown"],
    ["internal error", "unknown"],
  ])("reads %j", (message, result) => {
    expect(sendResultOf({ ok: false, error: { code: -32000, message, data: null } })).toBe(result);
  });
});

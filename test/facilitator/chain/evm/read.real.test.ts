import { encodeFunctionData, hashTypedData } from "viem";
import { sign } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hash, type Hex } from "#kernel/bytes";
import { loadArtifacts } from "../../../../contracts/index.ts";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import type { AuthorizationRead, Chain } from "../../../../facilitator/chain/port.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { type AuthorizationTerms, authorize, devDomain, newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
let chain: Chain;
let rpcCalls: string[] = [];
let rich: { key: Hex; address: Address };

beforeAll(async () => {
  dev = await startDevChain();
  chain = await openEvmChain({
    row: chainRow(dev.config),
    log: silentLog,
    onRpc: (method) => rpcCalls.push(method),
  });
  rich = { key: dev.contracts.payer.privateKey, address: address(dev.contracts.payer.address) };
  await chain.head();
});
afterAll(() => dev?.stop());
afterEach(() => dev.administer("unpause").catch(() => undefined));

type Overrides = Partial<AuthorizationTerms>;
const pay = (terms: Overrides = {}) =>
  authorize({
    domain: devDomain(dev.usdc),
    key: rich.key,
    to: dev.contracts.treasury.address,
    value: 5n,
    ...terms,
  });

async function item(terms: Overrides = {}): Promise<AuthorizationRead> {
  const { payer, nonce, call } = await pay(terms);
  return { token: dev.usdc, payer, nonce, transfer: call };
}

describe("readAuthorizations", () => {
  it("judges a hundred different authorizations in two calls, the second about those that fail", async () => {
    const spent = await pay();
    await dev.transact(dev.lane, spent.call);
    const forged = (await pay({ key: newKey().key, from: rich.address })).call;
    const kinds = [
      { make: () => item(), used: false, revert: null },
      { make: () => item({ key: newKey().key }), used: false, revert: "insufficient-balance" },
      {
        make: async () => ({
          token: dev.usdc,
          payer: rich.address,
          nonce: spent.nonce,
          transfer: spent.call,
        }),
        used: true,
        revert: "authorization-used",
      },
      { make: async () => ({ ...(await item()), transfer: forged }), used: false, revert: "bad-signature" },
      { make: () => item({ validBefore: 1n }), used: false, revert: "authorization-expired" },
      { make: () => item({ validAfter: 1n << 39n }), used: false, revert: "authorization-not-yet-valid" },
    ];
    const hundred = Array.from({ length: 100 }, (_, i) => kinds[i % kinds.length] ?? kinds[0]);
    const items = await Promise.all(hundred.map((kind) => kind?.make() ?? item()));
    const head = await chain.head();
    const balance = await chain.tokenBalance(dev.usdc, rich.address, "latest");
    rpcCalls = [];

    const states = await chain.readAuthorizations(dev.lane, items);

    expect(rpcCalls).toEqual(["eth_call", "eth_call"]);
    expect(states).toHaveLength(100);
    states.forEach((state, i) => {
      const kind = hundred[i];
      const { number, timestamp, baseFeePerGas } = head;
      expect(state.block).toEqual({ number, timestamp, baseFeePerGas });
      expect(state.used).toBe(kind?.used);
      const held = items[i]?.payer === rich.address ? balance : 0n;
      // Of those that pass only the first of its token: at an address without code all would pass.
      expect(state.balance).toBe(kind?.revert === null && i > 0 ? null : held);
      expect(state.transfer.ok ? null : state.transfer.revert).toBe(kind?.revert);
    });
  });

  it("asks once where all pass, also for the balances that are asked for", async () => {
    const items = [await item(), { ...(await item()), asksBalance: true }, await item()];
    const balance = await chain.tokenBalance(dev.usdc, rich.address, "latest");
    rpcCalls = [];
    const states = await chain.readAuthorizations(dev.lane, items);
    expect(rpcCalls).toEqual(["eth_call"]);
    expect(states.map((state) => [state.balance, state.used, state.transfer.ok])).toEqual([
      [balance, false, true],
      [balance, false, true],
      [null, false, true],
    ]);
  });

  it("reads every balance before the first transfer moves it", async () => {
    const poor = newKey();
    await dev.administer("mint", [poor.address, 8n]);
    const states = await chain.readAuthorizations(dev.lane, [
      { ...(await item({ key: poor.key })), asksBalance: true },
      await item({ key: poor.key }),
    ]);
    expect(states.map(({ balance }) => balance)).toEqual([8n, 8n]);
    expect(states.map(({ transfer }) => transfer.ok || transfer.revert)).toEqual([
      true,
      "insufficient-balance",
    ]);
  });

  it("says that the token is paused, and that an account is blocked", async () => {
    const blocked = newKey();
    await dev.administer("mint", [blocked.address, 8n]);
    await dev.administer("block", [blocked.address]);
    const [state] = await chain.readAuthorizations(dev.lane, [await item({ key: blocked.key })]);
    expect(state?.transfer).toMatchObject({ ok: false, revert: "blocked" });
    await dev.administer("pause");
    const [other] = await chain.readAuthorizations(dev.lane, [await item()]);
    expect(other?.transfer).toMatchObject({ ok: false, revert: "paused" });
  });

  it("reads for a sender who has no money for gas", async () => {
    const [state] = await chain.readAuthorizations(newKey().address, [await item()]);
    expect(state?.transfer.ok).toBe(true);
  });

  it("answers a lone contract wallet that burns all its gas as a failure, not as an outage", async () => {
    const { wallet, setMode } = await deployWallet();
    const { payer, nonce, bytesCall } = await pay({ from: wallet });
    const read = { token: dev.usdc, payer, nonce, transfer: bytesCall, asksBalance: true };
    const [honest] = await chain.readAuthorizations(dev.lane, [read]);
    expect(honest).toMatchObject({ balance: 100n, used: false, transfer: { ok: true } });
    await setMode(1);
    const [burning] = await chain.readAuthorizations(dev.lane, [read]);
    expect(burning).toMatchObject({ balance: 100n, used: false, transfer: { ok: false } });
  });

  it("is not fooled by a wallet that says yes only where nobody pays a fee", async () => {
    const { wallet, setMode } = await deployWallet();
    await setMode(2);
    const { payer, nonce, bytesCall } = await pay({ from: wallet });
    const [state] = await chain.readAuthorizations(dev.lane, [
      { token: dev.usdc, payer, nonce, transfer: bytesCall },
    ]);
    expect(state?.transfer).toMatchObject({ ok: false, revert: "bad-signature" });
  });

  it("reads the same one by one where there is no Multicall3", async () => {
    const items = [await item(), await item({ key: newKey().key })];
    const together = await chain.readAuthorizations(dev.lane, items);
    const { multicall } = chain.row;
    const code = await chain.code(multicall as Address);
    await dev.anvil.rpc("anvil_setCode", [multicall, "0x"]);
    try {
      const alone = await openEvmChain({ row: chainRow(dev.config), log: silentLog });
      expect(alone.row).toMatchObject({ multicall: null, batchLimit: 1 });
      expect(await alone.readAuthorizations(dev.lane, items)).toEqual(together);
    } finally {
      await dev.anvil.rpc("anvil_setCode", [multicall, code]);
    }
  });

  it("says nothing of a token that cannot be read, and judges the others beside it", async () => {
    const nowhere = { ...(await item()), token: newKey().address };
    const broken = { ...(await item({ key: newKey().key })), token: newKey().address };
    const poor = await item({ key: newKey().key });
    expect(await chain.readAuthorizations(dev.lane, [nowhere, await item(), broken, poor])).toMatchObject([
      { balance: null, used: false, isDisputed: true },
      { used: false, transfer: { ok: true }, isDisputed: false },
      { balance: null, used: false, isDisputed: true },
      { balance: 0n, used: false, transfer: { ok: false }, isDisputed: false },
    ]);
  });

  it("asks nothing for nobody", async () => {
    rpcCalls = [];
    expect(await chain.readAuthorizations(dev.lane, [])).toEqual([]);
    expect(rpcCalls).toEqual([]);
  });
});

describe("simulate", () => {
  it("runs a lone call directly and several as the batch, one outcome per call", async () => {
    const good = (await pay()).call;
    const poor = (await pay({ key: newKey().key })).call;
    expect(await chain.simulate(dev.lane, [good], 150_000n)).toEqual([{ ok: true, data: "0x" }]);
    expect(await chain.simulate(dev.lane, [poor], 150_000n)).toMatchObject([
      { ok: false, revert: "insufficient-balance" },
    ]);
    expect(await chain.simulate(dev.lane, [poor, good, good], 600_000n)).toMatchObject([
      { ok: false, revert: "insufficient-balance" },
      { ok: true, data: "0x" },
      { ok: false, revert: "authorization-used" },
    ]);
  });

  it("says out of gas of the whole batch when its limit does not carry it", async () => {
    const calls = [(await pay()).call, (await pay()).call];
    const outcomes = await chain.simulate(dev.lane, calls, 60_000n);
    expect(outcomes.map((outcome) => outcome.ok || outcome.revert)).toEqual(["out-of-gas", "out-of-gas"]);
  });
});

describe("isValidSignature", () => {
  it("is true for the magic value under a real base fee, and for nothing else", async () => {
    const { wallet, setMode } = await deployWallet();
    const digest = hashTypedData({
      domain: devDomain(dev.usdc),
      types: { Note: [{ name: "text", type: "string" }] },
      primaryType: "Note",
      message: { text: "hello" },
    }) as Hash;
    const signature = await sign({ hash: digest, privateKey: rich.key, to: "hex" });
    expect(await chain.isValidSignature(wallet, digest, signature)).toBe(true);
    expect(await chain.isValidSignature(wallet, digest, `${signature}00`)).toBe(false);
    expect(await chain.isValidSignature(newKey().address, digest, signature)).toBe(false);
    expect(await chain.isValidSignature(dev.usdc, digest, signature)).toBe(false);
    await setMode(1);
    expect(await chain.isValidSignature(wallet, digest, signature)).toBe(false);
    await setMode(2);
    expect(await chain.isValidSignature(wallet, digest, signature)).toBe(false);
  });
});

describe("tokenBalance", () => {
  it("is nothing at a block before the token's first, and unknown of what is no token", async () => {
    expect(await chain.tokenBalance(dev.usdc, dev.lane, 0)).toBe(0n);
    const silent = newKey().address;
    await dev.anvil.rpc("anvil_setCode", [silent, "0x00"]);
    await expect(chain.tokenBalance(silent, dev.lane, "latest")).rejects.toMatchObject({
      code: "chain_unavailable",
    });
  });
});

describe("tokenBalances", () => {
  it("reads many accounts as of a block, hundreds in one call, in their order", async () => {
    const holders = [newKey().address, newKey().address];
    await dev.administer("mint", [holders[0], 3n]);
    const before = await chain.head();
    await dev.administer("mint", [holders[1], 4n]);
    const nobody = Array.from({ length: 150 }, () => newKey().address);
    const read = (block: number) => chain.tokenBalances(dev.usdc, [...holders, ...nobody], block);
    rpcCalls = [];
    const now = await read((await dev.chain.head()).number);
    expect(rpcCalls.filter((method) => method === "eth_call")).toHaveLength(1);
    expect(now).toEqual([3n, 4n, ...nobody.map(() => 0n)]);
    expect((await read(before.number)).slice(0, 3)).toEqual([3n, 0n, 0n]);
    expect(await chain.tokenBalances(dev.usdc, [], before.number)).toEqual([]);
  });

  it("asks one by one where no Multicall3 stood", async () => {
    const holder = newKey().address;
    await dev.administer("mint", [holder, 5n]);
    const { number } = await dev.chain.head();
    const { multicall } = chain.row;
    const code = await chain.code(multicall ?? dev.usdc);
    await dev.anvil.rpc("anvil_setCode", [multicall, "0x"]);
    try {
      expect(await chain.tokenBalances(dev.usdc, [dev.lane, holder], number)).toEqual([0n, 5n]);
    } finally {
      await dev.anvil.rpc("anvil_setCode", [multicall, code]);
    }
  });

  it("is an outage where the height has no state, never a balance", async () => {
    await expect(chain.tokenBalances(dev.usdc, [dev.lane], 10_000_000)).rejects.toMatchObject({
      code: "chain_unavailable",
    });
  });
});

describe("isValidSignature's answer", () => {
  it.each<[string, string, boolean]>([
    ["the magic value", `0x1626ba7e${"0".repeat(56)}`, true],
    ["the magic value without its zeros", "0x1626ba7e", false],
    ["the magic value with something behind it", `0x1626ba7e${"0".repeat(55)}1`, false],
    ["the magic value twice", `0x1626ba7e${"0".repeat(56)}`.padEnd(130, "0"), false],
    ["true", `0x${"0".repeat(63)}1`, false],
    ["nothing", "0x", false],
  ])("%s: counts as it should", async (_, result, valid) => {
    const node = await startFakeNode(async (method, params) => {
      const [call] = params as [{ data?: string }];
      const isAsked = method === "eth_call" && call.data?.startsWith("0x1626ba7e");
      return { result: isAsked ? result : await dev.anvil.rpc(method, params) };
    });
    try {
      const other = await openEvmChain({
        row: chainRow({ ...dev.config, rpcUrls: [node.url] }),
        log: silentLog,
      });
      const digest = `0x${"01".repeat(32)}` as Hash;
      expect(await other.isValidSignature(dev.usdc, digest, "0x1234")).toBe(valid);
    } finally {
      await node.stop();
    }
  });
});

/** A contract wallet of the rich key's, with 100 atomic units. */
async function deployWallet(): Promise<{ wallet: Address; setMode: (mode: number) => Promise<void> }> {
  const { wallet1271 } = await loadArtifacts();
  const wallet = await dev.deploy(wallet1271, [rich.address]);
  await dev.administer("mint", [wallet, 100n]);
  return {
    wallet,
    setMode: async (mode) => {
      const data = encodeFunctionData({ abi: wallet1271.abi, functionName: "setMode", args: [mode] });
      await dev.transact(dev.lane, { to: wallet, data });
    },
  };
}

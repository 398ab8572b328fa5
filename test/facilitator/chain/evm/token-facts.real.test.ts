import { type AbiParameter, encodeAbiParameters } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hex } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import type { Chain, TokenFacts } from "../../../../facilitator/chain/port.ts";
import { checkMulticall, checkRails, recheckRails } from "../../../../facilitator/chain/rails.ts";
import { type ChainRow, chainRow } from "../../../../facilitator/chain/registry.ts";
import { devDomain, newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { type FakeNode, type NodeAnswer, startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
/** Stands before the node and answers some selectors, or whole methods, otherwise. */
let relay: FakeNode;
let otherwise: Readonly<Record<string, NodeAnswer>> = {};
let chain: Chain;
let facts: TokenFacts;

beforeAll(async () => {
  dev = await startDevChain();
  relay = await startFakeNode(async (method, params) => {
    const data = method === "eth_call" ? (params[0] as { data?: string }).data : undefined;
    return otherwise[data?.slice(0, 10) ?? method] ?? { result: await dev.anvil.rpc(method, params) };
  });
  chain = await openEvmChain({ row: chainRow({ ...dev.config, rpcUrls: [relay.url] }), log: silentLog });
  facts = {
    hasCode: true,
    codeHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    symbol: "USDC",
    decimals: 6,
    knowsAuthorizations: true,
    hasBytesOverload: true,
    domain: devDomain(dev.usdc),
  };
});
afterAll(async () => {
  await relay?.stop();
  await dev?.stop();
});
afterEach(() => {
  otherwise = {};
});

const missing: NodeAnswer = { error: { code: 3, message: "execution reverted", data: "0x" } };
const says = (types: readonly string[], values: readonly unknown[]): NodeAnswer => {
  const parameters: readonly AbiParameter[] = types.map((type) => ({ type }));
  return { result: encodeAbiParameters(parameters, values) };
};
const erc5267 = (change: {
  fields?: Hex;
  name?: string;
  chainId?: bigint;
  contract?: Address;
  more?: bigint[];
}) =>
  says(
    ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"],
    [
      change.fields ?? "0x0f",
      change.name ?? "USD Coin",
      "2",
      change.chainId ?? 31337n,
      change.contract ?? dev.usdc,
      `0x${"0".repeat(64)}`,
      change.more ?? [],
    ],
  );
const sel = {
  symbol: "0x95d89b41",
  decimals: "0x313ce567",
  name: "0x06fdde03",
  version: "0x54fd4d50",
  separator: "0x3644e515",
  domain: "0x84b0196e",
  state: "0xe94a0102",
  bytes: "0xcf092995",
};

describe("tokenFacts", () => {
  it("reads a token behind a proxy as one that has everything", async () => {
    expect(await chain.tokenFacts(dev.usdc)).toEqual(facts);
  });

  it("has nothing to say of an address without code", async () => {
    expect(await chain.tokenFacts(newKey().address)).toEqual({
      hasCode: false,
      codeHash: expect.any(String),
      symbol: null,
      decimals: null,
      knowsAuthorizations: false,
      hasBytesOverload: false,
      domain: null,
    });
  });

  it("has nothing but code to say of a contract that is no token", async () => {
    expect(await chain.tokenFacts(chain.row.multicall as Address)).toEqual({
      hasCode: true,
      codeHash: expect.any(String),
      symbol: null,
      decimals: null,
      knowsAuthorizations: false,
      hasBytesOverload: false,
      domain: null,
    });
  });

  it("reads a symbol that is 32 bytes", async () => {
    otherwise = { [sel.symbol]: { result: `0x${Buffer.from("USDC").toString("hex").padEnd(64, "0")}` } };
    expect(await chain.tokenFacts(dev.usdc)).toMatchObject({ symbol: "USDC" });
  });

  it.each<[string, () => Record<string, NodeAnswer>]>([
    ["by ERC-5267 alone", () => ({ [sel.separator]: missing })],
    ["by name, version and separator, as USDC does", () => ({ [sel.domain]: missing })],
    [
      "by name and separator where there is no version, as USDG does",
      () => ({ [sel.domain]: missing, [sel.version]: missing }),
    ],
  ])("proves the domain %s", async (_, said) => {
    otherwise = said();
    expect((await chain.tokenFacts(dev.usdc)).domain).toEqual(devDomain(dev.usdc));
  });

  it.each<[string, () => Record<string, NodeAnswer>]>([
    ["neither ERC-5267 nor a separator answers", () => ({ [sel.domain]: missing, [sel.separator]: missing })],
    [
      "the separator is of another name",
      () => ({ [sel.domain]: missing, [sel.name]: says(["string"], ["USDC"]) }),
    ],
    [
      "the separator is of another version",
      () => ({ [sel.domain]: missing, [sel.version]: says(["string"], ["1"]) }),
    ],
    ["ERC-5267 and separator differ", () => ({ [sel.domain]: erc5267({ name: "USDC" }) })],
    [
      "ERC-5267 names another chain",
      () => ({ [sel.domain]: erc5267({ chainId: 1n }), [sel.separator]: missing }),
    ],
    [
      "ERC-5267 names another contract",
      () => ({
        [sel.domain]: erc5267({ contract: address(dev.contracts.assets.EURC) }),
        [sel.separator]: missing,
      }),
    ],
    ["ERC-5267 has a salt", () => ({ [sel.domain]: erc5267({ fields: "0x1f" }), [sel.separator]: missing })],
    ["ERC-5267 has extensions", () => ({ [sel.domain]: erc5267({ more: [1n] }), [sel.separator]: missing })],
    [
      "ERC-5267 answers nonsense",
      () => ({ [sel.domain]: { result: `0x${"ff".repeat(64)}` }, [sel.separator]: missing }),
    ],
  ])("proves no domain when %s", async (_, said) => {
    otherwise = said();
    expect((await chain.tokenFacts(dev.usdc)).domain).toBeNull();
  });

  it("finds the bytes overload in the implementation's code when the call fails without a word", async () => {
    otherwise = { [sel.bytes]: missing };
    expect((await chain.tokenFacts(dev.usdc)).hasBytesOverload).toBe(true);
    otherwise = { [sel.bytes]: missing, eth_getStorageAt: { result: `0x${"0".repeat(64)}` } };
    expect((await chain.tokenFacts(dev.usdc)).hasBytesOverload).toBe(false);
  });

  it("is not taken in by a token that fails any unknown function with a word", async () => {
    const word = { error: { code: 3, message: "execution reverted", data: "0x12345678" } };
    otherwise = { [sel.bytes]: word, "0x00c0ffee": word };
    expect((await chain.tokenFacts(dev.usdc)).hasBytesOverload).toBe(false);
  });

  it("is an outage, not a fact, when the node cannot be asked", async () => {
    otherwise = { [sel.symbol]: { http: { status: 500, body: "" } } };
    await expect(chain.tokenFacts(dev.usdc)).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});

describe("checkRails", () => {
  const railsOf = async (change: (row: ChainRow) => Partial<ChainRow>) => {
    const row = { ...chain.row, ...change(chain.row) };
    return checkRails(await openEvmChain({ row, log: silentLog }));
  };
  const usdcOnly = (row: ChainRow) => row.tokens.filter(({ symbol }) => symbol === "USDC");
  const shown = () => dev.contracts.assets.USDC;

  it("takes the dev tokens, each with the domain it proved", async () => {
    const rails = await checkRails(chain);
    expect(rails.map((rail) => rail.ok && `${rail.domain.name}/${rail.domain.version}`)).toEqual([
      "USD Coin/2",
      "EURC/2",
      "Global Dollar/1",
    ]);
    expect(rails.every((rail) => rail.ok && rail.hasBytesOverload)).toBe(true);
  });

  it("names the symbol it expected and the one it got", async () => {
    const rails = await railsOf((row) => ({
      tokens: usdcOnly(row).map((token) => ({ ...token, symbol: "EURC" })),
    }));
    expect(rails).toMatchObject([
      { ok: false, problem: `EURC on local (${shown()}): expected the symbol EURC, got USDC` },
    ]);
  });

  it("names the decimals it expected and those it got", async () => {
    const rails = await railsOf((row) => ({
      tokens: usdcOnly(row).map((token) => ({ ...token, decimals: 18 })),
    }));
    expect(rails).toMatchObject([
      { ok: false, problem: `USDC on local (${shown()}): expected 18 decimals, got 6` },
    ]);
  });

  it("refuses an address without code, and says so", async () => {
    const contract = address(`0x${"12".repeat(20)}`);
    const rails = await railsOf((row) => ({
      tokens: usdcOnly(row).map((token) => ({ ...token, contract })),
    }));
    expect(rails).toMatchObject([
      {
        ok: false,
        problem: expect.stringContaining("expected a token contract, got an address without code"),
      },
    ]);
  });

  it("refuses a token without authorizations, and one whose domain is not proved", async () => {
    otherwise = { [sel.state]: missing };
    const [first] = await checkRails(chain);
    expect(first).toMatchObject({
      ok: false,
      problem: expect.stringContaining("authorizationState does not answer"),
    });
    otherwise = { [sel.domain]: missing, [sel.separator]: missing };
    const [second] = await checkRails(chain);
    expect(second).toMatchObject({
      ok: false,
      problem: expect.stringContaining("its EIP-712 domain is not proved"),
    });
  });
});

describe("recheckRails", () => {
  const IMPLEMENTATION = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
  /** Looks at a rail as boot has found it. */
  const known = async () => {
    const rails = (await checkRails(chain)).filter(({ token }) => token.symbol === "USDC");
    return async () => (await recheckRails(chain, rails)).map((rail) => (rail.ok ? rail.paused : "refused"));
  };
  const place = () => `USDC on local (${dev.contracts.assets.USDC}): `;

  it("pauses nothing that is as it was", async () => {
    expect(await (await known())()).toEqual([null]);
  });

  it("pauses a token behind whose proxy another implementation was put, until the first is back", async () => {
    const look = await known();
    const before = await dev.anvil.rpc("eth_getStorageAt", [dev.usdc, IMPLEMENTATION, "latest"]);
    const copy = newKey().address;
    await dev.anvil.rpc("anvil_setCode", [copy, "0x60006000fd"]);
    await dev.anvil.rpc("anvil_setStorageAt", [
      dev.usdc,
      IMPLEMENTATION,
      `0x${copy.slice(2).padStart(64, "0")}`,
    ]);
    const [problem] = await look();
    await dev.anvil.rpc("anvil_setStorageAt", [dev.usdc, IMPLEMENTATION, before]);
    expect(problem).toBe(`${place()}expected the symbol USDC, got none`);
    expect(await look()).toEqual([null]);
  });

  it("pauses a token that answers as before with other code, and one of another domain", async () => {
    const look = await known();
    otherwise = { eth_getCode: { result: "0x60016000fd" } };
    expect(await look()).toEqual([`${place()}its code has changed`]);
    otherwise = {
      [sel.domain]: erc5267({ name: "US Dollar Coin" }),
      [sel.separator]: missing,
    };
    expect(await look()).toEqual([`${place()}its EIP-712 domain has changed`]);
  });

  it("changes nothing while the chain cannot be asked", async () => {
    const look = await known();
    otherwise = { eth_getCode: { error: { code: -32_603, message: "down" } } };
    await expect(look()).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});

describe("checkMulticall", () => {
  it("is content with the contract at its usual place", async () => {
    expect(await checkMulticall(chain)).toEqual({ ok: true });
  });

  it("says what is missing, and a chain opened without it sends one by one", async () => {
    otherwise = { eth_getCode: { result: "0x" } };
    const check = await checkMulticall(chain);
    expect(check).toMatchObject({
      ok: false,
      problem: expect.stringContaining("expected Multicall3 at 0xcA11bde"),
    });
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: unknown, message: string) => void warnings.push(message) };
    const alone = await openEvmChain({ row: chain.row, log });
    expect(alone.row).toMatchObject({ multicall: null, batchLimit: 1 });
    expect(warnings).toEqual([check.ok ? "" : check.problem]);
  });

  it("does not take another contract for it", async () => {
    const row = { ...chain.row, multicall: dev.usdc };
    const other = await openEvmChain({ row, log: silentLog });
    expect(other.row).toMatchObject({ multicall: null, batchLimit: 1 });
  });
});

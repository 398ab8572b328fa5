import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { knownChains } from "../../../facilitator/chain/known-chains.ts";
import { type ChainConfig, chainRow, chainRows, MULTICALL3 } from "../../../facilitator/chain/registry.ts";

const treasury = "0x00000000000000000000000000000000000000AA";
const base: ChainConfig = { slug: "base", chainId: 8453, rpcUrls: ["https://rpc.example/key"], treasury };

describe("chainRow", () => {
  it("fills a known chain's row from the table", () => {
    expect(chainRow(base)).toEqual({
      slug: "base",
      chainId: 8453,
      network: "eip155:8453",
      v1Name: "base",
      isLocal: false,
      explorer: "https://basescan.org",
      rpcUrls: ["https://rpc.example/key"],
      rpcPerSecond: 500,
      blockTimeSeconds: 2,
      inclusionSeconds: 9,
      depth: { x402: 1, standard: 12, high: 90 },
      treasury: "0x00000000000000000000000000000000000000aa",
      router: null,
      tokens: [
        { symbol: "USDC", contract: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", decimals: 6 },
        { symbol: "EURC", contract: "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42", decimals: 6 },
      ],
      multicall: "0xca11bde05977b3631167028862be2a173976ca11",
      batchLimit: 234,
      transactionGasCap: 16_777_216n,
      maxFeePerGasCap: 5_000_000_000n,
      gasBudgets: {
        payer: 17_500_000_000_000_000n,
        newPayer: 350_000_000_000_000n,
        payable: 87_500_000_000_000_000n,
        merchant: 175_000_000_000_000_000n,
        chain: 875_000_000_000_000_000n,
      },
      dailyLimits: new Map(),
      approvalsAbove: new Map(),
      dustFloor: 1000n,
    });
  });

  it("takes an explorer as configured, in place of the known one", () => {
    const explorerOf = (explorer: string) => chainRow({ ...base, explorer }).explorer;
    expect(explorerOf("https://explorer.example/base/")).toBe("https://explorer.example/base");
    expect(explorerOf("http://127.0.0.1:4000")).toBe("http://127.0.0.1:4000");
  });

  it.each(["dailyLimits", "approvalsAbove"] as const)("takes %s by the token's symbol", (what) => {
    const row = chainRow({ ...base, [what]: { USDC: "50000.25" } });
    expect([...row[what]]).toEqual([["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 50_000_250_000n]]);
  });

  it("takes the calls that its endpoints take as configured, on the local chain as well", () => {
    expect(chainRow({ ...base, rpcPerSecond: 25 }).rpcPerSecond).toBe(25);
    const local = { slug: "local", chainId: 31337, assets: [{ symbol: "USDC", contract: treasury }] };
    expect(chainRow({ ...base, ...local, rpcPerSecond: 25 }).rpcPerSecond).toBe(25);
  });

  it("takes the router as configured", () => {
    const router = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    expect(chainRow({ ...base, router }).router).toBe(router.toLowerCase());
  });

  it("makes a row of every chain in the table, with addresses whose checksums are right", () => {
    for (const { slug, chainId, assets } of knownChains) {
      const listed = Object.keys(assets).length > 0 ? undefined : [{ symbol: "USDC", contract: treasury }];
      const row = chainRow({ slug, chainId, rpcUrls: ["http://127.0.0.1:1"], treasury, assets: listed });
      const { x402, standard, high } = row.depth;
      expect(row.multicall).toBe(MULTICALL3);
      expect(x402).toBeLessThanOrEqual(standard);
      expect(standard).toBeLessThanOrEqual(high);
    }
  });

  it("knows the local chain: nothing waits and nothing is too small", () => {
    const assets = [{ symbol: "USDC", contract: treasury }];
    const row = chainRow({ ...base, slug: "local", chainId: 31337, assets });
    expect(row).toMatchObject({
      isLocal: true,
      rpcPerSecond: null,
      v1Name: null,
      inclusionSeconds: 2,
      depth: { x402: 1, standard: 1, high: 1 },
      dustFloor: 1n,
    });
  });

  it("is careful with a chain that nobody described", () => {
    const assets = [{ symbol: "EURC", contract: treasury }];
    const row = chainRow({ ...base, slug: "novel", chainId: 777_777, blockTimeSeconds: 5, assets });
    expect(row).toMatchObject({
      network: "eip155:777777",
      isLocal: false,
      blockTimeSeconds: 5,
      inclusionSeconds: 15,
      depth: { x402: 12, standard: 12, high: 64 },
      batchLimit: 50,
    });
  });

  it("takes configured confirmations as the standard count, and lets x402 wait no longer than that", () => {
    const ethereum: ChainConfig = { ...base, slug: "ethereum", chainId: 1 };
    expect(chainRow({ ...ethereum, confirmations: 20 }).depth).toEqual({ x402: 2, standard: 20, high: 64 });
    expect(chainRow({ ...ethereum, confirmations: 1 }).depth).toEqual({ x402: 1, standard: 1, high: 64 });
    expect(chainRow({ ...ethereum, confirmations: 100 }).depth).toEqual({
      x402: 2,
      standard: 100,
      high: 100,
    });
  });

  it.each<[string, Partial<ChainConfig>, RegExp]>([
    [
      "a known slug under another chain id",
      { chainId: 8454 },
      /chainId must be 8453, or choose another slug/,
    ],
    ["a slug of other letters", { slug: "Base_1", chainId: 5 }, /slug must be/],
    [
      "a limit on no asset of its",
      { dailyLimits: { USDG: "1" } },
      /dailyLimits names USDG, which is none of/,
    ],
    ["a limit that is no amount", { dailyLimits: { USDC: "lots" } }, /dailyLimits of USDC must be a decimal/],
    [
      "an approval that is no amount",
      { approvalsAbove: { USDC: "" } },
      /approvalsAbove of USDC must be a decimal/,
    ],
    ["no endpoint", { rpcUrls: [] }, /rpcUrls needs at least one URL/],
    ["an endpoint that takes no call", { rpcPerSecond: 0 }, /rpcPerSecond must be above 0/],
    ["a part of a call", { rpcPerSecond: 0.5 }, /rpcPerSecond must be a whole number/],
    [
      "an endpoint that is no web address",
      { rpcUrls: ["ws://x"] },
      /rpcUrls\[0\] must be an http or https URL/,
    ],
    [
      "a treasury with a wrong checksum",
      { treasury: "0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913" },
      /treasury must be/,
    ],
    [
      "a router with a wrong checksum",
      { router: "0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913" },
      /router must be an address with a right checksum/,
    ],
    [
      "an asset that is no stablecoin of ours",
      { assets: [{ symbol: "DAI", contract: treasury }] },
      /DAI is not supported/,
    ],
    ["no asset where the table has none", { slug: "novel", chainId: 5 }, /assets needs at least one/],
    [
      "one contract for two assets",
      { assets: ["USDC", "EURC"].map((symbol) => ({ symbol, contract: treasury })) },
      /names a contract twice/,
    ],
    [
      "an explorer that is no link",
      { explorer: "javascript:alert(1)" },
      /explorer must be an http or https URL/,
    ],
    [
      "an explorer with a query",
      { explorer: "https://x.example/?a=" },
      /explorer must be an http or https URL/,
    ],
    ["confirmations in fractions", { confirmations: 1.5 }, /confirmations must be a whole number/],
    ["no confirmations", { confirmations: 0 }, /confirmations must be above 0/],
  ])("refuses %s, naming the setting", (_, change, sentence) => {
    const broken = () => chainRow({ ...base, ...change });
    expect(broken).toThrow(/^FAREBOX_CHAINS, /);
    expect(broken).toThrow(sentence);
  });

  it("never shows an endpoint's URL, which may hold a key", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{12}$/), (secret) => {
        try {
          chainRow({ ...base, rpcUrls: [`ftp://host/${secret}`] });
        } catch (error) {
          return !String(error).includes(secret);
        }
        return false;
      }),
    );
  });
});

describe("chainRows", () => {
  it("refuses two entries of one chain", () => {
    expect(() => chainRows([base, { ...base, slug: "base-too" }])).toThrow(
      "two entries have the chainId 8453",
    );
  });

  it("keeps the order of the configuration", () => {
    const rows = chainRows([{ ...base, slug: "optimism", chainId: 10 }, base]);
    expect(rows.map(({ slug }) => slug)).toEqual(["optimism", "base"]);
  });
});

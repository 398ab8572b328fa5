import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { knownChains } from "../../../../facilitator/chain/known-chains.ts";
import { type ChainRow, chainRow } from "../../../../facilitator/chain/registry.ts";
import {
  type Fees,
  feesWithinCap,
  gasLimitOf,
  lowWater,
  raised,
  tipOf,
  WALLET_GAS_CAP,
} from "../../../../facilitator/settlement/lane/gas.ts";

const GWEI = 1_000_000_000n;
const wei = fc.bigInt({ min: 0n, max: 1_000n * GWEI });
const fees = fc
  .tuple(wei, wei)
  .map(([tip, rest]): Fees => ({ maxFeePerGas: tip + rest, maxPriorityFeePerGas: tip }));

const rowWith = (maxFeePerGasCap: bigint) => ({ maxFeePerGasCap }) as ChainRow;

describe("the gas limit of a transaction", () => {
  it("covers each item of a batch with room to spare, and a lone wallet's own cap", () => {
    expect(gasLimitOf([false])).toBe(150_000n);
    expect(gasLimitOf([true])).toBe(WALLET_GAS_CAP);
    // measured: a proxied transfer takes 60,400 in a batch of two, 43,196 in one of fifty
    expect(gasLimitOf([false, false])).toBeGreaterThan(2n * 60_400n);
    expect(gasLimitOf(Array(50).fill(false))).toBeGreaterThan((12n * 50n * 43_196n) / 10n);
  });

  it("of a chain's fullest batch stays under what a transaction may take there", () => {
    for (const known of knownChains) {
      const row = chainRow({
        slug: known.slug,
        chainId: known.chainId,
        rpcUrls: ["http://127.0.0.1:1"],
        treasury: `0x${"1".repeat(40)}`,
        assets: [{ symbol: "USDC", contract: `0x${"2".repeat(40)}` }],
      });
      expect(gasLimitOf(Array(row.batchLimit).fill(false))).toBeLessThanOrEqual(row.transactionGasCap);
    }
  });
});

describe("the first fees", () => {
  it("are twice the base fee and the tip, at most the cap, and never too little for the next block", () => {
    fc.assert(
      fc.property(wei, wei, wei, (baseFeePerGas, maxPriorityFeePerGas, cap) => {
        const found = feesWithinCap(rowWith(cap), baseFeePerGas, maxPriorityFeePerGas);
        const least = baseFeePerGas + maxPriorityFeePerGas;
        if (least > cap) {
          expect(found).toBeNull();
          return;
        }
        expect(found?.maxPriorityFeePerGas).toBe(maxPriorityFeePerGas);
        expect(found?.maxFeePerGas).toBeGreaterThanOrEqual(least);
        expect([least + baseFeePerGas, cap]).toContain(found?.maxFeePerGas);
        expect(found?.maxFeePerGas).toBeLessThanOrEqual(cap);
      }),
    );
  });
});

describe("the tip", () => {
  const market = { baseFeePerGas: 1n, maxPriorityFeePerGas: 100n };

  it("is the last of ours that was mined where blocks have room and others give more", () => {
    expect(tipOf({ ...market, hasRoom: true }, 7n)).toBe(7n);
    expect(tipOf({ ...market, hasRoom: true }, 101n)).toBe(100n);
  });

  it("is what others give where blocks are full, or nothing of ours was mined", () => {
    expect(tipOf({ ...market, hasRoom: false }, 7n)).toBe(100n);
    expect(tipOf({ ...market, hasRoom: true }, null)).toBe(100n);
  });
});

describe("the fees of a replacement", () => {
  it("are both at least a tenth above the last and not below the fresh ones, or it is not made", () => {
    fc.assert(
      fc.property(fees, fees, wei, (last, fresh, cap) => {
        const found = raised(last, fresh, cap);
        if (!found) return;
        for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
          expect(found[field] * 10n).toBeGreaterThanOrEqual(last[field] * 11n);
          expect(found[field]).toBeGreaterThanOrEqual(fresh[field]);
        }
        expect(found.maxFeePerGas).toBeLessThanOrEqual(cap);
        expect(found.maxPriorityFeePerGas).toBeLessThanOrEqual(found.maxFeePerGas);
      }),
    );
  });

  it("are not made above the cap", () => {
    const last = { maxFeePerGas: 100n, maxPriorityFeePerGas: 1n };
    expect(raised(last, last, 115n)).toEqual({ maxFeePerGas: 115n, maxPriorityFeePerGas: 2n });
    expect(raised(last, last, 114n)).toBeNull();
  });
});

describe("what a lane keeps", () => {
  const base = { maxFeePerGasCap: 5n * GWEI };
  const cheap = GWEI / 100n;
  const nothing = { gasLimit: 0n, maxFeePerGas: 0n };
  const lone = gasLimitOf([false]);

  it("is two hundred of its transactions at ten times the present fee or its last one, the chain's cap at most", () => {
    expect(lowWater(base, cheap, nothing)).toBe(200n * lone * 20n * cheap);
    expect(lowWater(base, cheap, { ...nothing, maxFeePerGas: 3n * cheap })).toBe(200n * lone * 30n * cheap);
    expect(lowWater(base, 4n * GWEI, nothing)).toBe(200n * lone * base.maxFeePerGasCap);
  });

  it("grows with the batches that it sends, up to a usual one", () => {
    const usual = gasLimitOf(Array(25).fill(false));
    const of = (gasLimit: bigint) => lowWater(base, cheap, { ...nothing, gasLimit });
    expect([of(1n), of(300_000n), of(usual)]).toEqual([of(0n), 2n * of(0n), (of(0n) / lone) * usual]);
    expect(of(10n * usual)).toBe(of(usual));
  });
});

import type { FeeEstimate } from "../../chain/port.ts";
import type { ChainRow } from "../../chain/registry.ts";

/** Gas limits are fixed per item, not estimated: an estimate of a call that tolerates failing parts may be too low, and
 *  then the whole batch burns its limit. A USDC-shaped proxied transfer takes 39,000 to 60,000 in a batch. */
const LONE_GAS = 150_000n;
const BATCH_BASE_GAS = 60_000n;
const BATCH_ITEM_GAS = 68_000n;
/** What one contract wallet's payment may take, token call included. */
export const WALLET_GAS_CAP = 300_000n;

/** The gas limit of a transaction with these items; an item's flag says that its payer has code (then it is alone). */
export function gasLimitOf(items: readonly boolean[]): bigint {
  if (items.length > 1) return BATCH_BASE_GAS + BATCH_ITEM_GAS * BigInt(items.length);
  return items[0] ? WALLET_GAS_CAP : LONE_GAS;
}

/** What a lane keeps: this many transactions, at many times the present fee. */
const LOW_WATER = { transactions: 200n, feeTimes: 10n };
/** Larger batches happen only for throughput. */
const USUAL_BATCH = 25;

/** The largest of a lane's recent transactions: gas limit, and wei offered per gas. */
export interface Recent {
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
}

/** Wei below which a lane takes nothing new (settlement.md §9). A full batch counts as a usual one. Ten times the present
 *  or last fee stands for the chain's cap where that is higher: by its cap alone a lane of a test network would have to
 *  hold several ether. */
export function lowWater(
  { maxFeePerGasCap }: Pick<ChainRow, "maxFeePerGasCap">,
  baseFeePerGas: bigint,
  recent: Recent,
): bigint {
  const usual = gasLimitOf(Array<boolean>(USUAL_BATCH).fill(false));
  const gas = least(usual, most(recent.gasLimit, LONE_GAS));
  const fee = least(maxFeePerGasCap, LOW_WATER.feeTimes * most(2n * baseFeePerGas, recent.maxFeePerGas));
  return LOW_WATER.transactions * gas * fee;
}

export const most = (a: bigint, b: bigint) => (a > b ? a : b);
export const least = (a: bigint, b: bigint) => (a < b ? a : b);

export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The tip to give, in wei, when `own` was the last of ours that was mined. Where blocks have room ours is enough, and what
 *  others give is no reason to give more: somebody could raise it on purpose, and spend our gas. */
export function tipOf({ maxPriorityFeePerGas, hasRoom }: FeeEstimate, own: bigint | null): bigint {
  return hasRoom && own !== null && own < maxPriorityFeePerGas ? own : maxPriorityFeePerGas;
}

/** Twice the base fee plus the tip, under the chain's cap; null when even the next block costs more than the cap. */
export function feesWithinCap({ maxFeePerGasCap: cap }: ChainRow, baseFee: bigint, tip: bigint): Fees | null {
  if (baseFee + tip > cap) return null;
  return { maxFeePerGas: least(2n * baseFee + tip, cap), maxPriorityFeePerGas: tip };
}

/** Pools ask for a tenth more in both fields; we give 15%, rounded up, from the last or the fresh fee, whichever is
 *  higher. Null above the cap. */
export function raised(last: Fees, fresh: Fees, cap: bigint): Fees | null {
  const up = (a: bigint, b: bigint) => {
    const base = a > b ? a : b;
    return (base * 115n + 99n) / 100n;
  };
  const fees = {
    maxFeePerGas: up(last.maxFeePerGas, fresh.maxFeePerGas),
    maxPriorityFeePerGas: up(last.maxPriorityFeePerGas, fresh.maxPriorityFeePerGas),
  };
  return fees.maxFeePerGas > cap ? null : fees;
}

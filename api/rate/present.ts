import type { RailFacts } from "#facilitator";
import { isStablecoin, pegs } from "#kernel/asset";
import type { Currency as Unit } from "../http/currency.ts";
import { presentAmount } from "../http/money.ts";
import type { Currency, ExecutionPath, LockedRate, Rail } from "./schema.ts";
import type { rateSnapshot } from "./tables.ts";

export type RateSnapshot = typeof rateSnapshot.$inferSelect;

export function presentRail(rail: RailFacts, executionPaths: readonly ExecutionPath[]): Rail {
  return {
    chain: rail.chain,
    network: rail.network,
    asset: rail.asset,
    contract: rail.contract,
    decimals: rail.decimals,
    settlementAsset: rail.asset,
    executionPaths: executionPaths.filter((path) => path !== "on-chain-contract" || rail.router !== null),
    transferMethod: rail.transferMethod,
    minimum: presentAmount({ amount: rail.minimum, asset: rail.asset }),
    confirmationsRequired: rail.depth.standard,
    estimatedSeconds: Math.ceil(rail.depth.standard * rail.blockTimeSeconds),
  };
}

export function presentCurrency({ code, kind, name, decimals, sign }: Unit): Currency {
  return { code, kind, name, decimals, sign, peg: isStablecoin(code) ? pegs[code] : null };
}

/** As a clearing shows it. Source: interface §2.3. */
export function presentLockedRate(row: RateSnapshot): LockedRate {
  return {
    from: row.fromAsset,
    to: row.toAsset,
    scaledRate: row.scaledRate.toString(),
    source: row.source,
    lockedAt: row.lockedAt.toISOString(),
  };
}

import type { Claim } from "../claim/claim.ts";
import type { Engine } from "../engine.ts";

/** Value tiers in atomic units of our 6-decimal dollar and euro coins: below the first a credit needs the chain's x402
 *  depth, below the second its standard depth, above it a final block. Source: settlement.md §11. */
export const TIERS = { x402: 1_000_000_000n, standard: 10_000_000_000n };

/** Confirmations shown for a claim; the inclusion block counts as one. */
export function requiredDepth(
  engine: Engine,
  { chainId, amount }: Pick<Claim, "chainId" | "amount">,
): number {
  const depth = engine.chains.get(chainId)?.chain.row.depth;
  if (!depth) return 1;
  if (amount < TIERS.x402) return depth.x402;
  return amount < TIERS.standard ? depth.standard : depth.high;
}

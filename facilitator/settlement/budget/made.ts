import type { Clock } from "#kernel/clock";
import { shortMemory } from "../verify/short-memory.ts";

/** Longer than any payment is looked at before it is claimed. */
const MADE_MS = 60_000;

/** Claims that this process made of late, by `payerOnChain`. Whoever reads a payer's rows notes the count before: what was
 *  made since is not in what it read. */
export interface ClaimsMade {
  count(payer: string): number;
  add(payer: string): void;
}

export function claimsMade(clock: Clock): ClaimsMade {
  const counts = shortMemory<number>(clock, MADE_MS);
  const count = (payer: string) => counts.get(payer) ?? 0;
  return { count, add: (payer) => counts.set(payer, count(payer) + 1) };
}

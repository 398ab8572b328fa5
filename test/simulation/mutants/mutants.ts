/** The engine with one thing wrong, each a mistake that somebody could make. The simulation must catch them, by
 *  the seed that is noted or one soon after it. */
import { money } from "./money.ts";
import { order } from "./order.ts";
import { trust } from "./trust.ts";

export interface Mutant {
  readonly name: string;
  /** In files of `facilitator/`; each text is there exactly once. */
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[];
  /** Where it was caught, and where to begin to look; null for one that no seed has caught so far. */
  readonly seed: number | null;
}

export const mutants: readonly Mutant[] = [...money, ...order, ...trust];

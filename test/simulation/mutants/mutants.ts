/** The engine with one thing wrong, each a mistake that somebody could make. The simulation must catch them, by
 *  the seed that is noted or one soon after it. */
import type { FaultKind } from "../parts/faults.ts";
import { money } from "./money.ts";
import { order } from "./order.ts";
import { trust } from "./trust.ts";

export interface Mutant {
  readonly name: string;
  /** In files of `facilitator/`; each text is there exactly once. */
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[];
  /** Faults that show it, where those of a seed's own choice hardly ever come together to do so. */
  readonly only?: readonly FaultKind[];
  /** Where it was caught, and where to begin to look. */
  readonly seed: number;
}

export const mutants: readonly Mutant[] = [...money, ...order, ...trust];

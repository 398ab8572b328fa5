/** What can go wrong, by kind: which kinds a seed has, how often each strikes, and that each did. */
import type { Choices } from "../../property/payments/random.ts";

export const faultKinds = [
  // database
  "commit-lost",
  "commit-unknown",
  "serialization-failure",
  "deadlock-victim",
  "connection-lost",
  "statement-refused",
  "no-connection",
  "answer-lost",
  "interleaved-transaction",
  // endpoint
  "read-timeout",
  "send-timeout-before",
  "send-timeout-after",
  "send-refused",
  "send-swallowed",
  "mempool-drop",
  "lagging-view",
  "forked-view",
  "null-receipt",
  "false-receipt",
  "unknown-block",
  "fee-spike",
  // chain
  "reorg",
  "reorg-that-loses",
  "late-inclusion",
  // processes
  "kill",
  "kill-in-transaction",
  "stall",
  "clock-skew",
  "time-jump",
  // payers and callers
  "front-run",
  "cancel",
  "drain",
  "second-signature",
  "spent-first",
  "payer-gains-code",
  "forged-signature",
  "other-form",
  "other-payable",
  "repeat",
  "hang-up",
  "answer-not-delivered",
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** The share of the seeds that has a kind, where chance does not say: one in four lives without kills, and what has few
 *  occasions must not miss them. */
const shares: ReadonlyMap<FaultKind, number> = new Map([
  ["kill", 0.75],
  ["send-timeout-before", 0.5],
  ["send-timeout-after", 0.5],
  ["send-refused", 0.5],
  ["send-swallowed", 0.5],
  ["null-receipt", 0.9],
  ["false-receipt", 0.9],
  ["answer-not-delivered", 0.9],
]);
const OFTEN = 0.3;

export class Faults {
  readonly counts = new Map<FaultKind, number>();
  readonly #chance: Choices;
  readonly #rates: ReadonlyMap<FaultKind, number>;
  /** At rest nothing goes wrong any more, save for what still `lasts`. */
  isOff = false;
  readonly lasting = new Set<FaultKind>();
  /** Kinds that strike at each occasion, and ask no chance. */
  readonly sure = new Set<FaultKind>();

  /** Each seed has some of the kinds only: where all strike at once, few get far. Those of `only` alone, where they are
   *  given, and each of them often. */
  constructor(chance: Choices, only: readonly FaultKind[] | null = null) {
    this.#chance = chance;
    const share = chance.of([0.1, 0.3, 0.5]);
    const usual = (kind: FaultKind) =>
      chance.chance(shares.get(kind) ?? share) ? chance.of([0.03, 0.1, 0.2]) : 0;
    const often = (kind: FaultKind) => (only?.includes(kind) ? OFTEN : 0);
    this.#rates = new Map(faultKinds.map((kind) => [kind, only ? often(kind) : usual(kind)]));
  }

  /** Whether it happens now; `more` makes what has few occasions likelier. */
  strikes(kind: FaultKind, more = 1): boolean {
    if (this.isOff && !this.lasting.has(kind)) return false;
    if (!this.sure.has(kind) && !this.#draws(kind, more)) return false;
    this.count(kind);
    return true;
  }

  #draws(kind: FaultKind, more: number): boolean {
    const rate = this.#rates.get(kind) ?? 0;
    return rate > 0 && this.#chance.chance(Math.min(0.9, rate * more));
  }

  /** Whether the seed has this kind. */
  has(kind: FaultKind): boolean {
    return !this.isOff && (this.#rates.get(kind) ?? 0) > 0;
  }

  count(kind: FaultKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }
}

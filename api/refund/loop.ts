import type { outbox, Tx } from "#store";
import { type Follower, followRefunds, hearOfRefunds } from "./verbs/follow.ts";

const EVERY_MS = 500;

/** Brings refunds to where their money is. A loop and no job: what moves money asks the rows. */
export function refundLoop(follower: Follower) {
  return { name: "refunds", everyMs: EVERY_MS, turn: () => followRefunds(follower) };
}

/** Hears of money that leaves, so that the loop looks at once. */
export function refundHearer({ clock }: Pick<Follower, "clock">) {
  return (tx: Tx, facts: readonly outbox.Fact[]) => hearOfRefunds(tx, facts, { clock });
}

import type { Hex } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { assert } from "#kernel/fault";
import type { Account } from "./account.ts";

/** `single` posts at once; `pending` is visible and cannot be spent; `post` and `void` resolve the pending in `ref`. */
export type Phase = "single" | "pending" | "post" | "void";

/** One movement: `amount` atomic units of one asset from the credit account's side to the debit account's. */
export interface Transfer {
  readonly id: Hex;
  readonly leg: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: bigint;
  readonly phase: Phase;
  readonly ref: Hex | null;
}

/** The transfers of one business event. Posted whole or not at all; posting it again changes nothing. */
export interface Entry {
  readonly id: Hex;
  readonly eventKey: string;
  /** Kind of event, `x402-credited`. */
  readonly code: string;
  /** What it is about: a claim's id. */
  readonly subject: string | null;
  /** Height of the block that made it true. */
  readonly blockNumber: number | null;
  readonly transfers: readonly Transfer[];
}

type Leg = Omit<Transfer, "id">;
interface Sides {
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: bigint;
}

export const single = (leg: string, sides: Sides): Leg => ({ leg, ...sides, phase: "single", ref: null });
export const pending = (leg: string, sides: Sides): Leg => ({ leg, ...sides, phase: "pending", ref: null });

/** An entry with ids derived from its event key. Legs of zero are left out. */
export function entry(
  about: { code: string; eventKey: string; subject: string | null; blockNumber: number | null },
  legs: readonly Leg[],
): Entry {
  const transfers = legs
    .filter(({ amount }) => amount !== 0n)
    .map((leg) => {
      assert(leg.amount > 0n, `leg ${leg.leg} of ${about.eventKey} is negative`);
      assert(leg.debit.asset === leg.credit.asset, `leg ${leg.leg} of ${about.eventKey} mixes assets`);
      return { ...leg, id: transferId(about.eventKey, leg.leg) };
    });
  return { ...about, id: entryId(about.eventKey), transfers };
}

/** The id of an event's entry, 16 bytes: posting it again meets its own row. */
export function entryId(eventKey: string): Hex {
  return sha256(`farebox/entry/v1\n${eventKey}`).slice(0, 34) as Hex;
}

/** The id of the entry that resolves a pending one: its neighbour, whether it posts or voids. The rows of both lie in one
 *  page of the index, where there is room for one of the two. */
export function resolutionId(pendingEntry: Hex): Hex {
  const last = Number.parseInt(pendingEntry.slice(-1), 16) ^ 1;
  return `${pendingEntry.slice(0, -1)}${last.toString(16)}` as Hex;
}

/** The id of one leg of an event: posting it again meets its own row. */
export function transferId(eventKey: string, leg: string): Hex {
  return sha256(`farebox/transfer/v1\n${eventKey}\n${leg}`).slice(0, 34) as Hex;
}

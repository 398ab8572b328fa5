import { assert, unreachable } from "#kernel/fault";
import { type Entry, type ReturnSource, templates } from "#ledger";
import type { OutgoingKind } from "../claim/state.ts";

/** Money on its way out, as the books see it. Atomic units of `asset` (`USDC@base`). */
export interface ReservedMoney {
  readonly id: string;
  readonly kind: OutgoingKind;
  readonly merchantId: string;
  readonly asset: string;
  /** What leaves. */
  readonly amount: bigint;
  /** Of a refund: the part of it that we give back of our fee. */
  readonly feeShare: bigint;
  /** Of a return: where the money lies, and the clearing it is about. */
  readonly source: ReturnSource | null;
  readonly subject: string | null;
}

/** Locks the money until it has gone. */
export function reserved(money: ReservedMoney): Entry {
  switch (money.kind) {
    case "payout":
      return templates.payoutCreated({ ...money, payoutId: money.id });
    case "refund":
      return templates.refundCreated(refundOf(money));
    case "return":
      return templates.returnDecided(returnOf(money));
    default:
      return unreachable(money.kind);
  }
}

/** The event that `reserved` books. */
export function reservedKey({ kind, id }: Pick<ReservedMoney, "kind" | "id">): string {
  return `${kind}:${id}:${kind === "return" ? "decided" : "created"}`;
}

/** Gives it back: cancelled before it was signed, or its authorization ended unused for good. */
export function released(money: ReservedMoney): Entry {
  switch (money.kind) {
    case "payout":
      return templates.payoutReleased({ ...money, payoutId: money.id });
    case "refund":
      return templates.refundReleased(refundOf(money));
    case "return":
      return templates.returnReleased(returnOf(money));
    default:
      return unreachable(money.kind);
  }
}

/** The chain moved it: pending until its block is final. */
export function sent(money: ReservedMoney, at: { eventKey: string; blockNumber: number }): Entry {
  switch (money.kind) {
    case "payout":
    case "refund":
      return templates.reservedSent({ ...money, ...at, subject: money.id });
    case "return":
      return templates.returnSent({ ...returnOf(money), ...at });
    default:
      return unreachable(money.kind);
  }
}

function refundOf({ id, merchantId, asset, amount, feeShare }: ReservedMoney) {
  return { refundId: id, merchantId, asset, net: amount - feeShare, feeShare };
}

function returnOf({ id, asset, amount, source, subject }: ReservedMoney) {
  assert(source !== null && subject !== null, `return ${id} says where its money lies`);
  return { returnId: id, subject, asset, amount, from: source };
}

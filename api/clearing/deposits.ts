/** What arrived for a clearing, against what is written down of it: pure. `book.ts` has the effects. */
import type { Arrival, RailFacts } from "#facilitator";
import type { NewId } from "#kernel/id";
import { type ClearingRow, type DepositRow, isDust, lyingOf, type ReturnRow, requiredFor } from "./money.ts";
import type { OrderRow } from "./orders.ts";
import { isCounted, isLate } from "./rails/order.ts";
import type { ClearingState, DepositStatus } from "./state.ts";

/** A deposit as it is now: its row, not written yet, and what the chain says. */
export interface Seen {
  readonly row: DepositRow;
  readonly isCanonical: boolean;
  /** It has the confirmations that its amount needs. */
  readonly isDeep: boolean;
}

const keyOf = ({ orderId, txHash, ordinal }: Pick<Arrival, "orderId" | "txHash" | "ordinal">) =>
  `${orderId} ${txHash} ${ordinal}`;

/** Deposits in the books whose booking does not stand any more: their block left the chain, or left it and came back. */
export function fallenOf(
  deposits: readonly DepositRow[],
  arrivals: readonly Arrival[],
): readonly DepositRow[] {
  const now = new Map(arrivals.map((arrival) => [keyOf(arrival), arrival]));
  return deposits.filter((row) => {
    const arrival = now.get(keyOf(row));
    if (!row.isBooked) return false;
    if (!arrival?.isCanonical || !arrival.isTaken) return true;
    return arrival.blockHash !== row.blockHash || arrival.booking !== row.booking;
  });
}

interface Looking {
  readonly clearing: ClearingRow;
  readonly order: OrderRow | null;
  /** Of a chain, by its slug. */
  readonly depthOf: (chain: string) => RailFacts["depth"];
  readonly now: Date;
  readonly newId: NewId;
  /** Time can be moved here, so our clock says what is late. */
  readonly isSandbox: boolean;
}

/** What is written down brought up to what the chain says. In the order of arrival; what is gone stays as orphaned. */
export function look(
  deposits: readonly DepositRow[],
  arrivals: readonly Arrival[],
  looking: Looking,
): readonly Seen[] {
  const known = new Map(deposits.map((row) => [keyOf(row), row]));
  const here = arrivals.map((arrival) => seenOf(arrival, known.get(keyOf(arrival)) ?? null, looking));
  const named = new Set(arrivals.map(keyOf));
  const gone = deposits.filter((row) => !named.has(keyOf(row)));
  return [
    ...here,
    ...gone.map((row) => ({
      row: { ...row, confirmations: 0, isFinal: false },
      isCanonical: false,
      isDeep: false,
    })),
  ];
}

function seenOf(arrival: Arrival, known: DepositRow | null, looking: Looking): Seen {
  const { clearing, order, depthOf } = looking;
  const { isCanonical, confirmations, isFinal, amount } = arrival;
  const isOrdered = arrival.orderId === order?.id && arrival.asset === order.asset;
  const largest = isOrdered && order.amount > amount ? order.amount : amount;
  const required = requiredFor(largest, depthOf(arrival.chain));
  const isDeep = isCanonical && confirmations >= required.confirmations && (isFinal || !required.mustBeFinal);
  const place = {
    logIndex: arrival.logIndex,
    blockNumber: arrival.blockNumber,
    blockHash: arrival.blockHash,
    booking: arrival.booking,
    confirmations,
    isFinal,
  };
  return { row: { ...(known ?? newRow(arrival, clearing, looking)), ...place }, isCanonical, isDeep };
}

function newRow(arrival: Arrival, clearing: ClearingRow, { now, newId, isSandbox }: Looking): DepositRow {
  const cameAt = isSandbox || arrival.blockTime > now ? now : arrival.blockTime;
  return {
    merchantId: clearing.merchantId,
    clearingId: clearing.id,
    id: newId("dep"),
    orderId: arrival.orderId,
    chain: arrival.chain,
    asset: arrival.asset,
    txHash: arrival.txHash,
    ordinal: arrival.ordinal,
    logIndex: arrival.logIndex,
    blockNumber: arrival.blockNumber,
    blockHash: arrival.blockHash,
    booking: arrival.booking,
    sender: arrival.sender,
    amount: arrival.amount,
    confirmations: arrival.confirmations,
    isFinal: arrival.isFinal,
    status: "confirming",
    isLate: isLate(cameAt, clearing.expiresAt),
    ...unbooked,
    isMatched: false,
    isDecided: false,
    firstSeenAt: now,
    updatedAt: now,
  };
}

export const unbooked = { isBooked: false, toClearing: 0n, toOverpayment: 0n, toUnmatched: 0n } as const;

/** Whether it came to the order that stands, in its token. */
export function isOrdered(row: Pick<DepositRow, "orderId" | "asset">, order: OrderRow | null): boolean {
  return row.orderId === order?.id && row.asset === order.asset;
}

/** What is on its way to the order that stands and will count there, in the order of arrival. */
export function comingTo(
  order: OrderRow | null,
  seen: readonly Seen[],
  { least, held }: { readonly least: bigint; readonly held: bigint },
): readonly DepositRow[] {
  const coming: DepositRow[] = [];
  let total = held;
  for (const { row, isCanonical } of seen) {
    if (!isCanonical || row.isBooked || !isOrdered(row, order)) continue;
    if (!isCounted({ amount: row.amount, least, held: total })) continue;
    coming.push(row);
    total += row.amount;
  }
  return coming;
}

/** Whether money has come that stands in the way of an end, or of another order. */
export function isHindered(arrivals: readonly Arrival[], order: OrderRow | null, least: bigint): boolean {
  return arrivals.some(
    (arrival) =>
      arrival.isCanonical &&
      (isOrdered(arrival, order)
        ? isCounted({ amount: arrival.amount, least, held: 0n })
        : !isDust(arrival.amount)),
  );
}

/** Money that is nobody's, and enough of it to be looked at. */
export function isStray(row: DepositRow, returns: readonly ReturnRow[]): boolean {
  return lyingOf(row, returns).unmatched > 0n && !isDust(row.amount);
}

/** What the list of deposits says of it, given where its clearing stands. Source: merchant-api.md §1.3. */
export function statusOf(
  { row, isCanonical }: Pick<Seen, "row" | "isCanonical">,
  state: ClearingState,
  returns: readonly ReturnRow[],
): DepositStatus {
  if (!isCanonical) return "orphaned";
  if (!row.isBooked) return "confirming";
  const { clearing, unmatched } = lyingOf(row, returns);
  if (clearing + unmatched === 0n && row.toClearing + row.toUnmatched > 0n) return "returned";
  if (unmatched > 0n && isDust(row.amount)) return "ignored";
  if (state === "settled" && clearing > 0n) return "credited";
  return row.isLate && !row.isDecided ? "late" : "confirmed";
}

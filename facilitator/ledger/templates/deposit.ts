import type { Hash } from "#kernel/bytes";
import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** One transfer that reached an order: a log and its block, since a log mined again is another event, and so is one whose
 *  block left the chain and came back: `booking` counts from 1. One transaction may pay many orders. */
export interface DepositLog {
  readonly chain: string;
  readonly txHash: Hash;
  /** Index in that block. */
  readonly logIndex: number;
  readonly blockHash: Hash;
  readonly booking: number;
}

/** The same with where its money went. Amounts in atomic units of `asset`, each 0 or more; together what arrived. */
export interface Deposit extends DepositLog {
  readonly asset: string;
  readonly blockNumber: number;
  /** A router's payment lies in the treasury; any other on the order's own address. */
  readonly path: "deposit-match" | "on-chain-contract";
  readonly clearingId: string;
  readonly toClearing: bigint;
  readonly toOverpayment: bigint;
  readonly toUnmatched: bigint;
}

/** A log's key; a log that is booked once more has another one. */
export function depositEventKey({ chain, txHash, logIndex, blockHash, booking }: DepositLog): string {
  const key = `deposit:${chain}:${txHash}:${logIndex}:${blockHash}`;
  return booking === 1 ? key : `${key}:${booking}`;
}

export const depositReversalKey = (log: DepositLog) => `${depositEventKey(log)}:reversal`;

/** A deposit has its required confirmations. Posted at once: a reorganisation before its block is final reverses it.
 *  Source: merchant-api worked postings 1, 5 and 7. */
export function depositReceived(deposit: Deposit): Entry {
  const { asset, clearingId: subject, blockNumber } = deposit;
  const debit = deposit.path === "deposit-match" ? account.deposit(asset) : account.treasury(asset);
  const eventKey = depositEventKey(deposit);
  return entry(
    { code: "deposit-received", eventKey, subject, blockNumber },
    placesOf(deposit).map(({ leg, owed, amount }) => single(leg, { debit, credit: owed, amount })),
  );
}

/** Its block left the chain: mirrors what was received, at the same height. */
export function depositReversed(deposit: Deposit): Entry {
  const { asset, clearingId: subject, blockNumber } = deposit;
  const credit = deposit.path === "deposit-match" ? account.deposit(asset) : account.treasury(asset);
  const eventKey = depositReversalKey(deposit);
  return entry(
    { code: "deposit-reversed", eventKey, subject, blockNumber },
    placesOf(deposit).map(({ leg, owed, amount }) => single(leg, { debit: owed, credit, amount })),
  );
}

function placesOf({ asset, toClearing, toOverpayment, toUnmatched }: Deposit) {
  return [
    { leg: "clearing", owed: account.clearing(asset), amount: toClearing },
    { leg: "overpayment", owed: account.overpayment(asset), amount: toOverpayment },
    { leg: "unmatched", owed: account.unmatched(asset), amount: toUnmatched },
  ];
}

/** A deposit that was booked as unmatched found its clearing: it only changes owner, once. Source: merchant-api worked
 *  posting 7. */
export function unmatchedMatched(
  matched: DepositLog & { readonly asset: string; readonly clearingId: string; readonly amount: bigint },
): Entry {
  const { asset, clearingId: subject, amount } = matched;
  const eventKey = `${depositEventKey(matched)}:matched`;
  return entry({ code: "unmatched-matched", eventKey, subject, blockNumber: null }, [
    single("matched", { debit: account.unmatched(asset), credit: account.clearing(asset), amount }),
  ]);
}

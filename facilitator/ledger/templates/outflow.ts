import type { Hash } from "#kernel/bytes";
import * as account from "../account.ts";
import { type Entry, entry, pending, single } from "../transfer.ts";

/** Money that left our treasury for a refund or payout: pending when included, posted when final. */
export interface Outflow {
  /** Event key of the claim that carried it. */
  readonly eventKey: string;
  readonly subject: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly blockNumber: number;
}

/** The chain moved reserved money out of the treasury. Source: merchant-api worked postings 9 and 10. */
export function reservedSent({ eventKey, subject, merchantId, asset, amount, blockNumber }: Outflow): Entry {
  return entry({ code: "reserved-sent", eventKey, subject, blockNumber }, [
    pending("out", {
      debit: account.merchantReserved(merchantId, asset),
      credit: account.treasury(asset),
      amount,
    }),
  ]);
}

/** One transfer by no order or sweep of ours, in a final block. Amount in atomic units of `asset`. */
interface StrayTransfer {
  readonly chain: string;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly asset: string;
  readonly amount: bigint;
  readonly blockNumber: number;
}

/** Money left our treasury, or a deposit address, and an operator said whose it was: a merchant's, or ours where none is named.
 *  Source: security.md §10. */
export function outflowBooked(
  booked: StrayTransfer & { readonly place: "treasury" | "deposit"; readonly merchantId: string | null },
): Entry {
  const { asset, merchantId, amount, place } = booked;
  const debit = merchantId === null ? account.funding(asset) : account.merchantAvailable(merchantId, asset);
  const credit = place === "treasury" ? account.treasury(asset) : account.deposit(asset);
  return entry({ code: "outflow-booked", ...eventOf(booked) }, [single("out", { debit, credit, amount })]);
}

/** Money went from a deposit address into our treasury, where it was booked as unmatched for good; an operator said so. */
export function outflowKept(booked: StrayTransfer): Entry {
  const { asset, amount } = booked;
  return entry({ code: "outflow-kept", ...eventOf(booked) }, [
    single("sweep", { debit: account.unmatched(asset), credit: account.deposit(asset), amount }),
  ]);
}

function eventOf({ chain, blockHash, txHash: subject, logIndex, blockNumber }: StrayTransfer) {
  return { eventKey: `outflow:${chain}:${subject}:${logIndex}:${blockHash}`, subject, blockNumber };
}

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

/** Money left our treasury by no order of ours, in a final block, and an operator said whose it was: a merchant's, or ours where
 *  none is named. Amount in atomic units of `asset`. Source: security.md §10. */
export function outflowBooked(booked: {
  readonly chain: string;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly asset: string;
  readonly merchantId: string | null;
  readonly amount: bigint;
  readonly blockNumber: number;
}): Entry {
  const { chain, blockHash, txHash: subject, logIndex, asset, merchantId, amount, blockNumber } = booked;
  const eventKey = `outflow:${chain}:${subject}:${logIndex}:${blockHash}`;
  const debit = merchantId === null ? account.funding(asset) : account.merchantAvailable(merchantId, asset);
  return entry({ code: "outflow-booked", eventKey, subject, blockNumber }, [
    single("out", { debit, credit: account.treasury(asset), amount }),
  ]);
}

import * as account from "../account.ts";
import { type Entry, entry, pending } from "../transfer.ts";

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

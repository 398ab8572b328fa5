import * as account from "../account.ts";
import { type Entry, entry, pending } from "../transfer.ts";

/** A settled clearing. Amounts in atomic units of `asset`. */
export interface SettledClearing {
  readonly clearingId: string;
  /** Grows with each credit anew after a reorganisation: rows of its own. */
  readonly attempt: number;
  readonly merchantId: string;
  readonly asset: string;
  readonly gross: bigint;
  readonly fee: bigint;
  /** What the merchant owed us and repays with this; 0 as a rule. */
  readonly repaid?: bigint;
  /** Height of the last block whose money it settles; null where the money is not on a chain. */
  readonly blockNumber: number | null;
}

export const settleEventKey = ({
  clearingId,
  attempt,
}: Pick<SettledClearing, "clearingId" | "attempt">): string => `settle:${clearingId}:${attempt}`;

/** The payer's money becomes the merchant's, less our fee. Pending until its block is final; resolved by
 *  `resolvePending` under the same key. Source: merchant-api worked postings 3 and 14. */
export function clearingSettled(settled: SettledClearing): Entry {
  const { clearingId: subject, merchantId, asset, gross, fee, repaid = 0n, blockNumber } = settled;
  const debit = account.clearing(asset);
  const net = gross - fee - repaid;
  return entry({ code: "clearing-settled", eventKey: settleEventKey(settled), subject, blockNumber }, [
    pending("net", { debit, credit: account.merchantAvailable(merchantId, asset), amount: net }),
    pending("fee", { debit, credit: account.fees(asset), amount: fee }),
    pending("repaid", { debit, credit: account.receivable(merchantId, asset), amount: repaid }),
  ]);
}

import * as account from "../account.ts";
import { type Entry, entry, pending, single } from "../transfer.ts";

/** Money that the chain moved from a deposit address into the treasury. Atomic units of `asset`. */
export interface Sweep {
  /** Event key of the claim that carried it. */
  readonly eventKey: string;
  /** The order whose address it left. */
  readonly subject: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly blockNumber: number;
}

/** Pending when included, posted when final. Source: merchant-api worked posting 2. */
export function sweepMoved({ eventKey, subject, asset, amount, blockNumber }: Sweep): Entry {
  return entry({ code: "sweep-moved", eventKey, subject, blockNumber }, [
    pending("sweep", { debit: account.treasury(asset), credit: account.deposit(asset), amount }),
  ]);
}

/** The same, when the money had been booked as unmatched and is final already: books that were put back to an earlier time
 *  saw it come before they knew of the sweep. */
export function sweepMatched({ eventKey, subject, asset, amount, blockNumber }: Sweep): Entry {
  return entry({ code: "sweep-matched", eventKey, subject, blockNumber }, [
    single("sweep", { debit: account.unmatched(asset), credit: account.deposit(asset), amount }),
  ]);
}

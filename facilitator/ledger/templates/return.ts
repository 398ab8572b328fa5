import { unreachable } from "#kernel/fault";
import * as account from "../account.ts";
import { type Entry, entry, pending, single } from "../transfer.ts";

/** Where money lies that goes back to its payer. */
export type ReturnSource = "clearing" | "overpayment" | "unmatched";

/** Money that was never the merchant's and goes back. Atomic units of `asset`. Source: merchant-api worked postings 6
 *  and 13. */
export interface ReturnMoney {
  readonly returnId: string;
  /** The clearing it is about. */
  readonly subject: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly from: ReturnSource;
}

/** Decided: nobody can spend it otherwise from now on. */
export function returnDecided({ returnId, subject, asset, amount, from }: ReturnMoney): Entry {
  const eventKey = `return:${returnId}:decided`;
  return entry({ code: "return-decided", eventKey, subject, blockNumber: null }, [
    single("out", { debit: sourceOf(from, asset), credit: account.returns(asset), amount }),
  ]);
}

/** Cancelled before it was sent, or its authorization ended unused for good. */
export function returnReleased({ returnId, subject, asset, amount, from }: ReturnMoney): Entry {
  const eventKey = `return:${returnId}:released`;
  return entry({ code: "return-released", eventKey, subject, blockNumber: null }, [
    single("back", { debit: account.returns(asset), credit: sourceOf(from, asset), amount }),
  ]);
}

/** The chain moved it out of the treasury: pending when included, posted when final. */
export function returnSent(sent: {
  /** Event key of the claim that carried it. */
  readonly eventKey: string;
  readonly subject: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly blockNumber: number;
}): Entry {
  const { eventKey, subject, asset, amount, blockNumber } = sent;
  return entry({ code: "return-sent", eventKey, subject, blockNumber }, [
    pending("out", { debit: account.returns(asset), credit: account.treasury(asset), amount }),
  ]);
}

function sourceOf(from: ReturnSource, asset: string) {
  switch (from) {
    case "clearing":
      return account.clearing(asset);
    case "overpayment":
      return account.overpayment(asset);
    case "unmatched":
      return account.unmatched(asset);
    default:
      return unreachable(from);
  }
}

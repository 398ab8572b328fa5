import type { Hash } from "#kernel/bytes";
import * as account from "../account.ts";
import { type Entry, entry, pending } from "../transfer.ts";

/** One log, wherever it is told of: the block is part of the key, since a log mined again is another event, and so is
 *  one whose block left the chain and came back: `bookings` counts. */
export interface LogRef {
  readonly chain: string;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly bookings: number;
}

export const unmatchedEventKey = ({ chain, blockHash, txHash, logIndex, bookings }: LogRef) =>
  `unmatched:${chain}:${txHash}:${logIndex}:${blockHash}:${bookings}`;

/** Money reached our treasury and nobody has claimed it. Pending until the block is final. */
export function unmatchedReceived(
  log: LogRef & { asset: string; amount: bigint; blockNumber: number },
): Entry {
  return entry(
    {
      code: "unmatched-received",
      eventKey: unmatchedEventKey(log),
      subject: log.txHash,
      blockNumber: log.blockNumber,
    },
    [
      pending("in", {
        debit: account.treasury(log.asset),
        credit: account.unmatched(log.asset),
        amount: log.amount,
      }),
    ],
  );
}

import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** Money out to a merchant. Amount in atomic units of `asset`. Source: merchant-api worked posting 10. */
export interface PayoutMoney {
  readonly payoutId: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly amount: bigint;
}

/** Asked for: locked until it has gone. */
export function payoutCreated({ payoutId, merchantId, asset, amount }: PayoutMoney): Entry {
  return entry(
    { code: "payout-created", eventKey: `payout:${payoutId}:created`, subject: payoutId, blockNumber: null },
    [
      single("out", {
        debit: account.merchantAvailable(merchantId, asset),
        credit: account.merchantReserved(merchantId, asset),
        amount,
      }),
    ],
  );
}

/** Cancelled before it was sent, or its authorization ended unused for good. */
export function payoutReleased({ payoutId, merchantId, asset, amount }: PayoutMoney): Entry {
  return entry(
    {
      code: "payout-released",
      eventKey: `payout:${payoutId}:released`,
      subject: payoutId,
      blockNumber: null,
    },
    [
      single("back", {
        debit: account.merchantReserved(merchantId, asset),
        credit: account.merchantAvailable(merchantId, asset),
        amount,
      }),
    ],
  );
}

import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** Money back to a payer: what the merchant gives and what we give back of our fee. Atomic units of `asset`; together
 *  what leaves. Source: merchant-api worked posting 9. */
export interface RefundMoney {
  readonly refundId: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly net: bigint;
  readonly feeShare: bigint;
}

/** Asked for: locked until it has gone. */
export function refundCreated(refund: RefundMoney): Entry {
  const { refundId, merchantId, asset, net, feeShare } = refund;
  const credit = account.merchantReserved(merchantId, asset);
  const about = { code: "refund-created", eventKey: `refund:${refundId}:created`, subject: refundId };
  return entry({ ...about, blockNumber: null }, [
    single("net", { debit: account.merchantAvailable(merchantId, asset), credit, amount: net }),
    single("fee", { debit: account.fees(asset), credit, amount: feeShare }),
  ]);
}

/** Cancelled before it was sent, or its authorization ended unused for good. */
export function refundReleased(refund: RefundMoney): Entry {
  const { refundId, merchantId, asset, net, feeShare } = refund;
  const debit = account.merchantReserved(merchantId, asset);
  const about = { code: "refund-released", eventKey: `refund:${refundId}:released`, subject: refundId };
  return entry({ ...about, blockNumber: null }, [
    single("net", { debit, credit: account.merchantAvailable(merchantId, asset), amount: net }),
    single("fee", { debit, credit: account.fees(asset), amount: feeShare }),
  ]);
}

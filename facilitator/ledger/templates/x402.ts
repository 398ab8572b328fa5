import type { Hash } from "#kernel/bytes";
import * as account from "../account.ts";
import { type Entry, entry, pending, single } from "../transfer.ts";

/** Money of one authorization, as the books see it. Amounts in atomic units of `asset` (`USDC@base`). */
export interface X402Payment {
  readonly claimKey: Hash;
  /** Grows with each reorg that took the payment away: a payment mined again gets rows of its own. */
  readonly epoch: number;
  readonly settlementId: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly gross: bigint;
  readonly fee: bigint;
  readonly blockNumber: number;
}

export const x402EventKey = ({ claimKey, epoch }: { claimKey: Hash; epoch: number }) =>
  `x402:${claimKey}:${epoch}`;

/** The chain moved an x402 payment into our treasury: the merchant gets it, less our fee. Pending until the block is
 *  final. Source: DESIGN 4.3, merchant-api worked posting 4. */
export function x402Credited(payment: X402Payment): Entry {
  const { asset, gross, fee } = payment;
  const from = account.treasury(asset);
  return entry(
    {
      code: "x402-credited",
      eventKey: x402EventKey(payment),
      subject: payment.settlementId,
      blockNumber: payment.blockNumber,
    },
    [
      pending("net", {
        debit: from,
        credit: account.merchantAvailable(payment.merchantId, asset),
        amount: gross - fee,
      }),
      pending("fee", { debit: from, credit: account.fees(asset), amount: fee }),
    ],
  );
}

/** The same, when the money had been booked as unmatched and is final already: it only changes owner. */
export function x402Matched(payment: X402Payment): Entry {
  const { asset, gross, fee } = payment;
  const from = account.unmatched(asset);
  return entry(
    {
      code: "x402-matched",
      eventKey: x402EventKey(payment),
      subject: payment.settlementId,
      blockNumber: payment.blockNumber,
    },
    [
      single("net", {
        debit: from,
        credit: account.merchantAvailable(payment.merchantId, asset),
        amount: gross - fee,
      }),
      single("fee", { debit: from, credit: account.fees(asset), amount: fee }),
    ],
  );
}

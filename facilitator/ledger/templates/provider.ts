import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** Money at an outside provider. It has an asset of its own (`USDC@sandbox`), so that it is never netted with tokens on
 *  a chain; there is no block to wait for. Amount in atomic units of `asset`. */
export interface ProviderMoney {
  /** `USDC@<provider>` */
  readonly asset: string;
  /** The provider's own id of the payment or the refund. */
  readonly reference: string;
  readonly amount: bigint;
}

const aboutOf = (code: string, { asset, reference }: ProviderMoney, subject: string) => {
  const provider = asset.slice(asset.indexOf("@") + 1);
  return { code, eventKey: `provider:${provider}:${reference}`, subject, blockNumber: null };
};

/** The provider says that the payer's money is with it: a deposit, but for the place. Source: merchant-api §9. */
export function providerReceived(money: ProviderMoney & { readonly clearingId: string }): Entry {
  const { asset, amount } = money;
  return entry(aboutOf("provider-received", money, money.clearingId), [
    single("clearing", { debit: account.provider(asset), credit: account.clearing(asset), amount }),
  ]);
}

/** The provider has sent a refund's reserved money back to the payer. */
export function providerRefunded(
  money: ProviderMoney & { readonly refundId: string; readonly merchantId: string },
): Entry {
  const { asset, amount, merchantId } = money;
  return entry(aboutOf("provider-refunded", money, money.refundId), [
    single("out", {
      debit: account.merchantReserved(merchantId, asset),
      credit: account.provider(asset),
      amount,
    }),
  ]);
}

import type { ChainFacts, Payable, SettleAnswer } from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { receiptUrlOf } from "./present.ts";

/** What a payer keeps of a payment of ours, as JSON. Amounts both ways; the time is the block's. */
export interface Receipt {
  readonly success: true;
  readonly paymentId: string | null;
  readonly payable: { readonly id: string; readonly kind: Payable["kind"]; readonly url: string };
  readonly amount: {
    readonly atomic: string;
    readonly decimal: string;
    readonly decimals: number;
    readonly symbol: string;
  } | null;
  readonly transaction: string;
  readonly network: string;
  readonly payer: string | null;
  readonly paidAt: string | null;
  /** Null for what has no intent yet when it is told. */
  readonly receiptUrl: string | null;
  readonly statusUrl: string | null;
}

/** Of a settled answer. `asset` is the token's contract that the payment selected. */
export function presentReceipt(
  answer: SettleAnswer,
  about: { payable: Payable; asset: string; chains: readonly ChainFacts[]; baseUrl: string },
): Receipt {
  const { payable, asset, chains, baseUrl } = about;
  const { paymentId, amount, transaction, network, payer, extra } = answer;
  const token = chains
    .find((chain) => chain.network === network)
    ?.tokens.find(({ contract }) => parseAddress(contract) === parseAddress(asset));
  return {
    success: true,
    paymentId,
    payable: { id: payable.id, kind: payable.kind, url: payable.url },
    amount:
      amount === null || !token
        ? null
        : {
            atomic: amount,
            decimal: formatDecimal(BigInt(amount), token.decimals),
            decimals: token.decimals,
            symbol: token.asset,
          },
    transaction,
    network,
    payer: payer === null ? null : checksum(payer),
    paidAt: extra.settledAt ?? null,
    receiptUrl: receiptUrlOf(answer, baseUrl),
    statusUrl: paymentId === null ? null : `${baseUrl}/x402/settlements/${paymentId}`,
  };
}

import type { RailFacts } from "#facilitator";
import { atParity } from "#kernel/asset";
import { parseAddress } from "#kernel/bytes";
import type { Money } from "#kernel/money";
import type { Tx } from "#store";
import { findMerchant } from "../merchant/verbs/merchant.ts";
import { demandActive, takenRails } from "../merchant/verbs/rails.ts";
import type { AskedRail } from "../payment-intent/tables.ts";
import { type IntentRow, type Offer, offerAtRate } from "../payment-intent/verbs/offer.ts";
import { coinOf, demandCoin, priceRails, railsFor } from "../payment-intent/verbs/rails.ts";
import type { ExecutionPath } from "../rate/schema.ts";
import { convert, currentRate, lockRate, type Rate, withSpread } from "../rate/verbs.ts";
import type { ClearingDesk } from "./desk.ts";
import { type ClearingRow, feeOf } from "./money.ts";
import { type OrderRow, openOrder, windowEnd } from "./orders.ts";
import { closesAt } from "./rails/order.ts";
import { rateColumns } from "./rates.ts";
import type { ConfirmInput } from "./schema.ts";
import type { Change } from "./timeline.ts";

/** The way that the money shall take, priced now. */
export interface Chosen {
  readonly path: ExecutionPath;
  readonly rate: Rate;
  readonly due: Money;
  /** Slug, or the name of a provider that has rails of its own. */
  readonly chain: string;
  /** Null at such a provider. */
  readonly rail: RailFacts | null;
  /** All that would have done. */
  readonly rails: readonly RailFacts[];
  readonly payer: ConfirmInput["payment"];
}
/** The rail of a confirm: as it asks, else as the intent was made, within those that the merchant takes and the asset that
 *  it settles in. Fault of its own: `merchant_suspended`. */
export async function choose(desk: ClearingDesk, intent: IntentRow, input: ConfirmInput): Promise<Chosen> {
  const { payment: payer } = input;
  const merchant = await findMerchant(desk.db.pool, intent.merchantId);
  demandActive(merchant);
  const rates = withSpread(desk.rates, merchant.spreadBps);
  const money = { amount: intent.amount, asset: intent.currency };
  const asked: AskedRail = {
    executionPath: input.executionPath ?? intent.asked.executionPath,
    settlementAsset: intent.asked.settlementAsset,
    asset: payer?.asset ?? intent.asked.asset,
    chain: payer?.chain ?? intent.asked.chain,
  };
  const path = asked.executionPath;
  if (intent.provider !== "evm") {
    demandCoin(asked);
    const asset = asked.settlementAsset ?? asked.asset ?? coinOf(money.asset);
    const rate = await currentRate({ rates }, { from: money.asset, to: asset });
    const shared = { path: "deposit-match" as const, chain: intent.provider, payer, rail: null, rails: [] };
    return { ...shared, rate, due: convert(money, rate) };
  }
  const taken = takenRails(merchant, desk.facilitator.rails());
  const rails = railsFor(taken, asked, money.asset);
  const { rail, rate, due } = await priceRails({ rates }, money, rails);
  return { path, rate, due, chain: rail.chain, rail, rails, payer };
}

type Columns = Pick<
  ClearingRow,
  | "providerReference"
  | "executionPath"
  | "chosenPath"
  | "chain"
  | "asset"
  | "sourceAmount"
  | "settlementAmount"
  | "fee"
  | "feeBps"
  | "toleranceBps"
  | "orderSeq"
  | "expiresAt"
> &
  ReturnType<typeof rateColumns>;

/** A way taken. The order's row is kept once the clearing is there. */
export interface Taken {
  readonly columns: Columns & Pick<ClearingRow, "dueAt">;
  readonly intent: NonNullable<Change["intent"]>;
  readonly order: OrderRow | null;
}

/** Locks the rate and makes the order of a way; what clearing and intent say from then on. */
export async function take(
  tx: Tx,
  desk: ClearingDesk,
  intent: IntentRow,
  chosen: Chosen,
  place: { readonly clearingId: string; readonly seq: number },
): Promise<Taken> {
  const { merchantId } = intent;
  const { path, rate, due, chain, rail } = chosen;
  const lock = await lockRate(tx, desk, { merchantId, rate });
  const { underpaymentToleranceBps } = await findMerchant(tx, merchantId);
  const isExact = rate.source === "identity" || rate.source === "parity";
  const until = path === "x402" && isExact ? intent.expiresAt : windowEnd(intent, rate, desk.now());
  const order =
    rail && path !== "x402"
      ? await openOrder(tx, desk, {
          ...{ merchantId, intentId: intent.id, ...place, path, expiresAt: until },
          priced: { rail, rate, due },
          rateId: lock.id,
        })
      : null;
  const expiresAt = order?.expiresAt ?? until;
  const columns = {
    providerReference: order?.id ?? null,
    executionPath: path,
    chosenPath: path,
    chain,
    asset: due.asset,
    sourceAmount: due.amount,
    settlementAmount: due.amount,
    fee: feeOf(due.amount, intent.feeBps),
    feeBps: intent.feeBps,
    toleranceBps: underpaymentToleranceBps,
    orderSeq: order?.seq ?? null,
    expiresAt,
    ...rateColumns(lock),
  };
  return {
    columns: { ...columns, dueAt: closesAt(expiresAt) },
    order,
    intent: { ...intentChange(intent, chosen, columns), ...offerOf(intent, chosen, lock.id, expiresAt) },
  };
}

function intentChange(intent: IntentRow, { payer }: Chosen, { asset, chain, expiresAt }: Columns) {
  const declared = parseAddress(payer?.payerAddress);
  return {
    settlementAsset: asset,
    paymentAsset: asset,
    paymentChain: chain,
    expiresAt,
    payerAddress: declared ?? intent.payerAddress,
    payerDeclared: declared !== null || intent.payerDeclared,
  };
}

/** Agents are offered the same rate for the same time; one to one they are offered the price itself, as before. */
function offerOf(
  intent: IntentRow,
  { due, rails }: Chosen,
  rateId: `rate_${string}`,
  until: Date,
): Partial<Offer> {
  if (atParity(intent.currency, due.asset)) return {};
  const isOfferedAtPar = intent.offerAmount !== null && intent.offerRateId === null;
  return isOfferedAtPar ? {} : offerAtRate({ due }, rails, { rateId, until });
}

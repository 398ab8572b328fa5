import type { RailFacts } from "#facilitator";
import {
  type ClearingDesk,
  chooseWay,
  type OpenPayment,
  openPayment,
} from "../../clearing/verbs/checkout.ts";
import { type Brand, brandOf } from "../../merchant/verbs/brand.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { takenRails } from "../../merchant/verbs/rails.ts";
import { offerRails, type RailOffer } from "../../payment-intent/verbs/choices.ts";
import { type Payer, payMissing } from "../../provider/verbs/deposit.ts";
import { withSpread } from "../../rate/verbs.ts";
import type { Refund } from "../../refund/schema.ts";
import { refundsOfPayment } from "../../refund/verbs/open.ts";
import { isDeadEnd, presentStatus } from "../present.ts";
import type { CheckoutStatus, WayForm } from "../schema.ts";

export { type ClearingDesk, marksOf } from "../../clearing/verbs/checkout.ts";
export type { RailOffer } from "../../payment-intent/verbs/choices.ts";
export { TIME_TO_SIGN_MS } from "../../payment-intent/verbs/offer.ts";

/** Everything that the page of a payment shows. */
export interface Checkout {
  readonly status: CheckoutStatus;
  readonly payment: OpenPayment;
  /** The rail that it is on, where that can be paid now. */
  readonly rail: RailFacts | null;
  /** Where people look up its transactions. */
  readonly explorer: string | null;
  /** What can be chosen; empty where nothing can. */
  readonly offers: readonly RailOffer[];
  /** What of it went back, or will. */
  readonly refunds: readonly Refund[];
  readonly brand: Brand;
  /** Whom to write to; null where there is nobody, or nothing to write about. */
  readonly contact: string | null;
}

/** What the payer is told of a payment. Fault: `not_found`. */
export async function readStatus(desk: ClearingDesk, id: string): Promise<CheckoutStatus> {
  return presentStatus(await openPayment(desk, id), desk.now());
}

/** The same with what a stream of news needs: whose it is, and how long its timeline is. Fault: `not_found`. */
export async function openStatus(desk: ClearingDesk, id: string) {
  const payment = await openPayment(desk, id);
  return {
    status: presentStatus(payment, desk.now()),
    merchantId: payment.intent.merchantId,
    sequence: String(payment.clearing?.sequence ?? 0),
  };
}

/** The same with what its page needs besides. `isChoosing`: the payer wants to see the other rails. Fault: `not_found`. */
export async function readCheckout(
  desk: ClearingDesk,
  { id, isChoosing }: { readonly id: string; readonly isChoosing: boolean },
): Promise<Checkout> {
  const payment = await openPayment(desk, id);
  const status = presentStatus(payment, desk.now());
  const { intent, clearing } = payment;
  const rail = clearing && railOf(desk, clearing);
  const served = desk.facilitator.chains().find(({ chain }) => chain === clearing?.chain);
  const explorer = served?.explorer ?? null;
  const isFree = status.phase === "choose" || (isChoosing && status.phase === "waiting");
  const { pool } = desk.db;
  const offers = isFree && intent.provider === "evm" ? await offersOf(desk, intent) : [];
  const refunds = status.phase === "paid" ? await refundsOfPayment(pool, payment) : [];
  const brand = await brandOf(pool, intent.merchantId);
  const contact = isDeadEnd(status) ? (await findMerchant(pool, intent.merchantId)).contactEmail : null;
  return { status, payment, rail, explorer, offers, refunds, brand, contact };
}

async function offersOf(desk: ClearingDesk, intent: OpenPayment["intent"]): Promise<readonly RailOffer[]> {
  const merchant = await findMerchant(desk.db.pool, intent.merchantId);
  const rates = withSpread(desk.rates, merchant.spreadBps);
  return offerRails({ rates }, takenRails(merchant, desk.facilitator.rails()), intent);
}

function railOf({ facilitator }: ClearingDesk, at: { readonly chain: string; readonly asset: string }) {
  return facilitator.rails().find(({ chain, asset }) => chain === at.chain && asset === at.asset) ?? null;
}

/** Confirms, or switches the rail. Faults: those of `chooseWay`. */
export function takeWay(
  desk: ClearingDesk,
  id: string,
  { chain, asset, executionPath, payerAddress }: WayForm,
): Promise<void> {
  return chooseWay(desk, { id, executionPath, payment: { chain, asset, payerAddress } });
}

/** Enough for what people press at one time. */
const REMEMBERED = 1_000;

/** Lets a sandbox's payer send what is missing. The same remainder is sent once by this process, however often the
 *  button is pressed before the money is seen. Faults: `not_found`, `simulation_impossible`, `chain_unavailable`. */
export function testPayments(desk: ClearingDesk, payer: Payer): (id: string) => Promise<void> {
  const sent = new Set<string>();
  return async (id) => {
    const { status, merchantId } = await openStatus(desk, id);
    const key = [status.id, status.address, status.remaining?.amount].join(" ");
    if (!canTestPay(status) || sent.has(key)) return;
    if (sent.size >= REMEMBERED) sent.clear();
    sent.add(key);
    try {
      await payMissing(payer, { db: desk.db, merchantId }, { paymentId: status.id });
    } catch (error) {
      sent.delete(key);
      throw error;
    }
  };
}

/** Whether money is waited for that the payer of a sandbox can send: he signs nothing. */
export function canTestPay({ phase, executionPath }: CheckoutStatus): boolean {
  return (phase === "waiting" || phase === "underpaid") && executionPath !== "x402";
}

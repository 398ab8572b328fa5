import type { PaymentView } from "#facilitator";
import type { Address } from "#kernel/bytes";
import type { Executor, Tx } from "#store";
import { fault } from "../http/faults.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import type { ClearingDesk } from "./desk.ts";
import { type ClearingRow, feeOf } from "./money.ts";
import { liveOrder, type OrderRow } from "./orders.ts";
import { attemptOf, follow, isCredited, isUnderWay, leading } from "./rails/x402.ts";
import { lockedRate, rateOfAgent } from "./rates.ts";
import { type Change, type Held, type Step, transition } from "./timeline.ts";

type Terms = Pick<
  ClearingRow,
  | "executionPath"
  | "providerReference"
  | "chain"
  | "asset"
  | "sourceAmount"
  | "settlementAmount"
  | "fee"
  | "rateFrom"
  | "rateTo"
  | "scaledRate"
  | "rateSource"
  | "rateLockedAt"
>;

/** Brings a clearing to where the agent's payment of it stands. What the facilitator has booked is not booked again. */
export async function followAgent(
  tx: Tx,
  desk: ClearingDesk,
  held: Held,
  { orders, payments }: { readonly orders: readonly OrderRow[]; readonly payments: readonly PaymentView[] },
): Promise<Held> {
  const payment = leading(payments);
  if (!payment) return held;
  const { clearing, intent } = held;
  const order = liveOrder(orders, clearing);
  const steps = follow(
    {
      state: clearing.state,
      settlementId: clearing.providerReference,
      attempt: clearing.attempt,
      hasOtherWay: hasOtherWay(held, order, desk.now()),
    },
    payment,
  );
  if (steps.length === 0) return held;
  const terms = (await termsAfter(tx, held, steps, order)) ?? (await termsOfAgent(tx, intent, payment));
  return transition(tx, desk, held, steps, changeOf(held, payment, terms, desk.now()));
}

/** What it is about again, once the agent's payment has ended unpaid; null while the agent leads, or always did. */
async function termsAfter(
  tx: Tx,
  held: Held,
  steps: readonly Step[],
  order: OrderRow | null,
): Promise<Partial<Terms> | null> {
  const last = steps.at(-1)?.trigger;
  const isUnpaid = last === "lose" || last === "extend" || last === "fail";
  if (isUnpaid && order) return termsOfOrder(tx, held, order);
  return isUnpaid && last !== "fail" ? { providerReference: null } : null;
}

/** Whether the payer could still pay without an agent: an order that stands, or the right to ask for one. */
function hasOtherWay({ clearing, intent }: Held, order: OrderRow | null, now: Date): boolean {
  // While it waits, the end of its window is what ends it.
  const isWaiting = clearing.state === "awaiting-funds";
  if (order) return order.state === "active" && (isWaiting || now <= clearing.expiresAt);
  const isFree = clearing.chosenPath === null && intent.asked.executionPath !== "x402";
  return isFree && (isWaiting || now < intent.expiresAt);
}

/** An agent's payment of it waits for the operator's word, and the clearing with it. */
export function waitsForOperator({
  state,
  executionPath,
  providerReference,
}: Pick<ClearingRow, "state" | "executionPath" | "providerReference">): boolean {
  return state === "in-review" && executionPath === "x402" && providerReference !== null;
}

/** Nobody takes other money for the payment while an agent's may still be charged: both would be credited. Fault:
 *  `agent_payment_under_way`. */
export function demandNoneUnderWay(payments: readonly PaymentView[]): void {
  const payment = payments.find(isUnderWay);
  if (payment) throw fault("agent_payment_under_way", { payment: payment.id });
}

/** What the clearing is about while an agent pays it. */
export async function termsOfAgent(db: Executor, intent: IntentRow, payment: PaymentView): Promise<Terms> {
  const { chain, asset, amount, fee } = payment;
  return {
    executionPath: "x402",
    providerReference: payment.id,
    chain,
    asset,
    sourceAmount: amount,
    settlementAmount: amount,
    fee,
    ...(await rateOfAgent(db, intent, payment)),
  };
}

/** What it is about again, once the agent's payment has ended unpaid. */
async function termsOfOrder(tx: Tx, { clearing }: Held, order: OrderRow | null): Promise<Partial<Terms>> {
  if (!order) return { providerReference: null };
  return {
    executionPath: order.path,
    providerReference: order.id,
    chain: order.chain,
    asset: order.asset,
    sourceAmount: order.amount,
    settlementAmount: order.amount,
    fee: feeOf(order.amount, clearing.feeBps),
    ...(await lockedRate(tx, order.merchantId, order.rateId)),
  };
}

function changeOf(
  { intent, clearing }: Held,
  payment: PaymentView,
  terms: Partial<Terms>,
  now: Date,
): Change {
  const credited = isCredited(payment);
  const asset = terms.asset ?? clearing.asset;
  return {
    clearing: {
      ...terms,
      transactionHash: credited ? payment.transaction : null,
      ...(credited && { attempt: attemptOf(payment), settledAt: now, isFinal: payment.state === "final" }),
    },
    intent: {
      settlementAsset: asset,
      paymentAsset: asset,
      paymentChain: terms.chain ?? clearing.chain,
      payerAddress: payerOf(intent, payment),
      ...(credited && { completedAt: intent.completedAt ?? now }),
    },
  };
}

/** Who was named, or whose money it is; before any has come, who signed. */
function payerOf({ payerDeclared, payerAddress }: IntentRow, payment: PaymentView): Address {
  const isLearned = isCredited(payment) && !payerDeclared;
  return (isLearned ? null : payerAddress) ?? payment.payer;
}

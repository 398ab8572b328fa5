import type { PaymentView } from "#facilitator";
import type { Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { IntentRow } from "../../payment-intent/verbs/offer.ts";
import { isHindered } from "../deposits.ts";
import type { ClearingDesk } from "../desk.ts";
import { paymentsOf } from "../lead.ts";
import { leastOf } from "../money.ts";
import { keepOrder, liveOrder, markOrder, type OrderRow } from "../orders.ts";
import { loadPurse } from "../purse.ts";
import type { ConfirmInput, PaymentPosition } from "../schema.ts";
import { type Chosen, choose, take } from "../take.ts";
import { begin, type Change, type Held, transition } from "../timeline.ts";
import { findPayment, lockPayment, type Payment, positionOf } from "./payment.ts";

export { type Chosen, choose } from "../take.ts";

/** What a confirm must know before its transaction. */
export interface Foreseen {
  readonly chosen: Chosen | null;
  readonly payments: readonly PaymentView[];
}

/** Looks at what can be confirmed and prices it. Faults: `not_found`, `rail_unsupported`, `amount_too_small`,
 *  `amount_too_large`, `rate_unavailable`. */
export async function foresee(
  desk: ClearingDesk,
  {
    ctx,
    input,
  }: {
    readonly ctx: Pick<MerchantCtx, "merchantId" | "db">;
    readonly input: ConfirmInput & { readonly id: string };
  },
): Promise<Foreseen> {
  const payment = await findPayment(ctx.db.pool, ctx.merchantId, input.id);
  const { intent, clearing } = payment;
  const payments = await paymentsOf(desk, intent, clearing);
  const isOpen = isUnconfirmed(payment) && desk.now() < intent.expiresAt;
  return { chosen: isOpen ? await choose(desk, intent, input) : null, payments };
}

/** Hands an intent to clearing: locks the rate, signs an order, and from the commit on its money is watched for. One that
 *  is clearing comes back as it stands. Faults: `not_found`, `intent_not_confirmable`, `intent_expired`. Source:
 *  interface §3, "Confirm payment intent". */
export async function confirm(
  desk: ClearingDesk,
  { ctx, input, foreseen }: Call<{ readonly id: string }> & { readonly foreseen: Foreseen },
): Promise<PaymentPosition> {
  ctx.demand("payments:write");
  return ctx.tx(async (tx) => {
    const payment = await confirmPayment(tx, desk, {
      merchantId: ctx.merchantId,
      id: input.id,
      chosen: foreseen.chosen,
    });
    return positionOf(desk, tx, { ...payment, payments: foreseen.payments });
  });
}

/** The same for features that confirm in a transaction of their own. */
export async function confirmPayment(
  tx: Tx,
  desk: ClearingDesk,
  {
    merchantId,
    id,
    chosen,
  }: { readonly merchantId: string; readonly id: string; readonly chosen: Chosen | null },
): Promise<Payment> {
  const payment = await lockPayment(tx, merchantId, id);
  const { intent, clearing } = payment;
  if (intent.status === "expired" || (isUnconfirmed(payment) && desk.now() >= intent.expiresAt))
    throw fault("intent_expired", { expiresAt: intent.expiresAt.toISOString() });
  if (clearing && isUnconfirmed(payment) && chosen && chosen.path !== "x402") {
    const { orders } = await loadPurse(tx, clearing);
    return takeOrder(tx, desk, { intent, clearing, orders }, chosen);
  }
  if (intent.status === "clearing" || intent.status === "completed") return payment;
  if (intent.status !== "created") throw fault("intent_not_confirmable", { status: intent.status });
  // It was not to be confirmed a moment ago, and now it is: only a clock that was set back does that.
  if (!chosen) throw fault("intent_not_confirmable", { status: intent.status });
  return start(tx, desk, intent, chosen);
}

/** Where an agent came before anybody confirmed it, and left unpaid, a person may still be given an order in its time. */
function isUnconfirmed({ intent, clearing }: Payment): boolean {
  if (!clearing) return intent.status === "created";
  return clearing.state === "awaiting-funds" && clearing.chosenPath === null;
}

/** Sends the payer another way, as long as no money has come. The order before is watched on. Fault:
 *  `intent_not_confirmable`. Source: merchant-api.md §1.2. */
export async function switchRail(
  tx: Tx,
  desk: ClearingDesk,
  { merchantId, id, chosen }: { readonly merchantId: string; readonly id: string; readonly chosen: Chosen },
): Promise<Payment> {
  const { intent, clearing } = await lockPayment(tx, merchantId, id);
  const refused = fault("intent_not_confirmable", { status: intent.status });
  if (clearing?.state !== "awaiting-funds" || desk.now() >= clearing.expiresAt) throw refused;
  const { orders } = await loadPurse(tx, clearing);
  const arrived = await desk.facilitator.deposits.arrivals(tx, [clearing.id]);
  if (isHindered(arrived, liveOrder(orders, clearing), leastOf(clearing))) throw refused;
  return takeOrder(tx, desk, { intent, clearing, orders }, chosen);
}

async function takeOrder(
  tx: Tx,
  desk: ClearingDesk,
  { orders, ...held }: Held & { readonly orders: readonly OrderRow[] },
  chosen: Chosen,
): Promise<Payment> {
  const live = orders.find(({ seq }) => seq === held.clearing.orderSeq);
  if (live) await markOrder(tx, live, "superseded");
  const { clearingId, seq } = { clearingId: held.clearing.id, seq: orders.length + 1 };
  const taken = await take(tx, desk, held.intent, chosen, { clearingId, seq });
  const change: Change = { clearing: taken.columns, intent: taken.intent };
  const cause = `to ${chosen.path} on ${chosen.chain}`;
  const after = await transition(tx, desk, held, [{ trigger: "switch", cause }], change);
  if (taken.order) await keepOrder(tx, taken.order);
  return after;
}

async function start(tx: Tx, desk: ClearingDesk, intent: IntentRow, chosen: Chosen): Promise<Payment> {
  const clearingId = desk.newId("clr");
  const taken = await take(tx, desk, intent, chosen, { clearingId, seq: 1 });
  const row = {
    merchantId: intent.merchantId,
    id: clearingId,
    intentId: intent.id,
    provider: intent.provider,
    transactionHash: null,
    reviewRequired: false,
    attempt: 0,
    failedSteps: 0,
    settledAt: null,
    isFinal: false,
    ...taken.columns,
  };
  const steps = [{ trigger: "lock" as const, cause: "confirmed" }];
  const held = await begin(tx, desk, { intent, clearing: row }, steps, { intent: taken.intent });
  if (taken.order) await keepOrder(tx, taken.order);
  return held;
}

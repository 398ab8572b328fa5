import { and, eq } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { PaymentIntent } from "../../payment-intent/schema.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { intentFact } from "../../payment-intent/verbs/create.ts";
import { type IntentRow, publishIntent } from "../../payment-intent/verbs/offer.ts";
import { presentIntent } from "../../payment-intent/verbs/read.ts";
import { isHindered } from "../deposits.ts";
import type { ClearingDesk } from "../desk.ts";
import { paymentsOf } from "../lead.ts";
import { leastOf } from "../money.ts";
import { liveOrder, markOrder } from "../orders.ts";
import { loadPurse } from "../purse.ts";
import { advanceIntent } from "../state.ts";
import { type Held, transition } from "../timeline.ts";
import { findPayment, lockPayment } from "./payment.ts";

/** The agents' payments of what may be cancelled; asked before the transaction. Fault: `not_found`. */
export async function agentsOf(
  desk: ClearingDesk,
  {
    ctx,
    input,
  }: { readonly ctx: Pick<MerchantCtx, "merchantId" | "db">; readonly input: { readonly id: string } },
): Promise<readonly PaymentView[]> {
  const { intent, clearing } = await findPayment(ctx.db.pool, ctx.merchantId, input.id);
  return paymentsOf(desk, intent, clearing);
}

/** Ends an intent for which no money is on its way; one that was cancelled comes back as it is. Faults: `not_found`,
 *  `intent_not_cancellable`. */
export async function cancel(
  desk: ClearingDesk,
  { ctx, input, payments }: Call<{ readonly id: string }> & { readonly payments: readonly PaymentView[] },
): Promise<PaymentIntent> {
  ctx.demand("payments:write");
  return ctx.tx((tx) => cancelPayment(tx, desk, { merchantId: ctx.merchantId, id: input.id, payments }));
}

/** The same for features that cancel in a transaction of their own. */
export async function cancelPayment(
  tx: Tx,
  desk: ClearingDesk,
  {
    merchantId,
    id,
    payments,
  }: { readonly merchantId: string; readonly id: string; readonly payments: readonly PaymentView[] },
): Promise<PaymentIntent> {
  const { intent, clearing } = await lockPayment(tx, merchantId, id);
  if (intent.status === "cancelled") return presentIntent(intent, desk);
  const refused = fault("intent_not_cancellable", { status: intent.status });
  // An authorization that has ended can never be charged; any other one may be.
  if (payments.some(({ state }) => state !== "expired" && state !== "cancelled")) throw refused;
  // Whoever claims it waits here for us, and finds it closed; whoever was faster is found holding it.
  if ((await desk.facilitator.once.lock(tx, intent.id))?.by === "authorization") throw refused;
  if (clearing) return presentIntent(await cancelCleared(tx, desk, { intent, clearing }, refused), desk);
  if (intent.status !== "created") throw refused;
  return presentIntent(await cancelUncleared(tx, desk, intent), desk);
}

async function cancelCleared(tx: Tx, desk: ClearingDesk, held: Held, refused: Error): Promise<IntentRow> {
  const { clearing } = held;
  if (clearing.state !== "awaiting-funds") throw refused;
  const { orders } = await loadPurse(tx, clearing);
  const arrived = orders.length === 0 ? [] : await desk.facilitator.deposits.arrivals(tx, [clearing.id]);
  const order = liveOrder(orders, clearing);
  if (isHindered(arrived, order, leastOf(clearing))) throw refused;
  if (order) await markOrder(tx, order, "expired");
  const steps = [{ trigger: "cancel" as const, cause: "the merchant cancelled it" }];
  return (await transition(tx, desk, held, steps, { clearing: { dueAt: null } })).intent;
}

async function cancelUncleared(tx: Tx, desk: ClearingDesk, intent: IntentRow): Promise<IntentRow> {
  const at = desk.now();
  const [row] = await tx
    .update(paymentIntent)
    .set({ status: advanceIntent(intent.status, "cancel"), updatedAt: at })
    .where(and(eq(paymentIntent.merchantId, intent.merchantId), eq(paymentIntent.id, intent.id)))
    .returning();
  if (!row) throw fault("not_found");
  await outbox.append(tx, [intentFact(desk.newId, row, "payment.cancelled", intent.status)]);
  await publishIntent(desk, tx, row, { as: "cancelled", at });
  return row;
}

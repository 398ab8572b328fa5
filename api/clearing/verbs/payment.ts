import { and, asc, eq } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { isId } from "#kernel/id";
import { type Executor, fixed, type Tx } from "#store";
import { fault } from "../../http/faults.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import type { IntentRow } from "../../payment-intent/verbs/offer.ts";
import { isIntent, lockIntent, presentIntent } from "../../payment-intent/verbs/read.ts";
import type { ClearingDesk } from "../desk.ts";
import type { ClearingRow, DepositRow } from "../money.ts";
import { liveOrder } from "../orders.ts";
import { presentAgentDeposit, presentClearing, presentDeposit, presentEntryOfTimeline } from "../present.ts";
import { loadPurse, type Purse } from "../purse.ts";
import { leading } from "../rails/x402.ts";
import type { Deposit, PaymentPosition } from "../schema.ts";
import { clearing, clearingDeposit, timelineEntry } from "../tables.ts";

export { paymentsOf } from "../lead.ts";
export type { ClearingRow, DepositRow } from "../money.ts";
export { presentClearing } from "../present.ts";

/** What showing payments needs. */
export type PaymentDesk = Pick<ClearingDesk, "facilitator" | "baseUrl">;

/** A merchant's payment: the intent, and its clearing once there is one. */
export interface Payment {
  readonly intent: IntentRow;
  readonly clearing: ClearingRow | null;
}

/** The payment with this id, pi_ or clr_. Fault: `not_found`, also for another merchant's. */
export async function findPayment(db: Executor, merchantId: string, id: string): Promise<Payment> {
  const intentId = await intentIdOf(db, merchantId, id);
  const isIts = and(
    eq(clearing.merchantId, paymentIntent.merchantId),
    eq(clearing.id, paymentIntent.clearingId),
  );
  // One statement: what two tell may be of two moments, and one status then denies the other.
  const found = db
    .select({ intent: paymentIntent, clearing })
    .from(paymentIntent)
    .leftJoin(clearing, isIts)
    .where(isIntent(merchantId, intentId));
  const [payment] = isId("pi", intentId) ? await found : [];
  if (!payment) throw fault("not_found");
  return payment;
}

/** The same, both locked until the transaction ends: intent first, as everybody. */
export async function lockPayment(tx: Tx, merchantId: string, id: string): Promise<Payment> {
  const intent = await lockIntent(tx, merchantId, await intentIdOf(tx, merchantId, id));
  const [row] = intent.clearingId ? await tx.select().from(clearing).where(isIt(intent)).for("update") : [];
  return { intent, clearing: row ?? null };
}

async function intentIdOf(db: Executor, merchantId: string, id: string): Promise<string> {
  if (!isId("clr", id)) return id;
  const [row] = await db
    .select({ intentId: clearing.intentId })
    .from(clearing)
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, id)));
  if (!row) throw fault("not_found");
  return row.intentId;
}

function isIt({ merchantId, clearingId }: IntentRow) {
  return and(eq(clearing.merchantId, merchantId), eq(clearing.id, clearingId ?? "clr_"));
}

/** The deposits whose money a settled clearing was paid with, in the order in which they came. */
export async function paidBy(db: Executor, { merchantId, id }: ClearingRow): Promise<readonly DepositRow[]> {
  return db
    .select()
    .from(clearingDeposit)
    .where(
      and(
        eq(clearingDeposit.merchantId, merchantId),
        eq(clearingDeposit.clearingId, id),
        fixed(eq(clearingDeposit.status, "credited")),
      ),
    )
    .orderBy(asc(clearingDeposit.id));
}

const LONGEST = 500;

/** Everything that is to be told of a payment. `payments` are the agents' of it, asked for before a transaction. Source:
 *  interface §4, `GET /v1/payments/{id}`. */
export async function positionOf(
  desk: PaymentDesk,
  db: Executor,
  { intent, clearing: row, payments }: Payment & { readonly payments: readonly PaymentView[] },
): Promise<PaymentPosition> {
  const paymentIntent = presentIntent(intent, desk);
  if (!row) return { paymentIntent, clearing: null, deposit: null, timeline: [] };
  const entries = await db
    .select()
    .from(timelineEntry)
    .where(and(eq(timelineEntry.merchantId, row.merchantId), eq(timelineEntry.clearingId, row.id)))
    .orderBy(asc(timelineEntry.sequence))
    .limit(LONGEST);
  return {
    paymentIntent,
    clearing: presentClearing(row),
    deposit: await depositOf(desk, db, row, payments),
    timeline: entries.map(presentEntryOfTimeline),
  };
}

async function depositOf(
  desk: Pick<ClearingDesk, "facilitator">,
  db: Executor,
  row: ClearingRow,
  payments: readonly PaymentView[],
): Promise<Deposit | null> {
  const isByOrder = row.provider === "evm" && row.executionPath !== "x402";
  const purse = isByOrder ? await loadPurse(db, row) : { orders: [], deposits: [] };
  return depositFrom(desk, row, { ...purse, payments });
}

/** What a payment was asked by, and what came for it. */
export type Coming = Pick<Purse, "orders" | "deposits"> & { readonly payments: readonly PaymentView[] };

/** What is shown of the money of a clearing. Pure. */
export function depositFrom(
  { facilitator }: Pick<ClearingDesk, "facilitator">,
  row: ClearingRow,
  { orders, deposits, payments }: Coming,
): Deposit | null {
  if (row.provider !== "evm") return null;
  if (row.executionPath === "x402") {
    const payment = leading(payments);
    return payment && presentAgentDeposit(row, payment);
  }
  const order = liveOrder(orders, row);
  if (!order) return null;
  const rail = facilitator.rails().find(({ chain, asset }) => chain === order.chain && asset === order.asset);
  const served = facilitator.chains().find(({ chain }) => chain === order.chain);
  return presentDeposit(row, order, { deposits, rail: rail ?? null, depth: served?.depth ?? null });
}

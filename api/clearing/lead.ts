import { and, asc, desc, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { errorFields } from "#kernel/log";
import { type Executor, outageOf, type Tx } from "#store";
import { paymentIntent } from "../payment-intent/tables.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import { rateSnapshot } from "../rate/tables.ts";
import { withSpread } from "../rate/verbs.ts";
import type { ClearingDesk } from "./desk.ts";
import type { ClearingRow } from "./money.ts";
import { clearing, clearingOrder, clearingReturn } from "./tables.ts";
import type { Held } from "./timeline.ts";
import { bringUp, type Outside } from "./turn.ts";

export interface Named {
  readonly merchantId: string;
  readonly id: string;
}
const GROUP = 20;
const AFTER_FAULT_MS = 30_000;

/** Brings up the clearings that are due, one after the other; how many. What fails is looked at again later. */
export async function leadDue(desk: ClearingDesk): Promise<number> {
  const due = await desk.db.pool
    .select({ merchantId: clearing.merchantId, id: clearing.id })
    .from(clearing)
    .where(and(isNotNull(clearing.dueAt), lte(clearing.dueAt, desk.now())))
    .orderBy(asc(clearing.dueAt))
    .limit(GROUP);
  let led = 0;
  for (const name of due) {
    try {
      if (await lead(desk, name)) led += 1;
    } catch (error) {
      // An outage passes; anything else is for a person to look at.
      const level = outageOf(error) ? "warn" : "error";
      desk.log[level]({ clearing: name.id, ...errorFields(error) }, "a clearing could not be brought up");
      await postpone(desk, name);
    }
  }
  return led;
}

/** Brings up one clearing; false when it is in another's hands, or was moved meanwhile. */
async function lead(desk: ClearingDesk, name: Named): Promise<boolean> {
  const before = await peek(desk, name);
  if (!before) return false;
  const outside = await askOutside(desk, before);
  return desk.db.tx(async (tx) => {
    const held = await lockFree(tx, before);
    if (!held || held.clearing.sequence !== before.clearing.sequence) return false;
    await bringUp(tx, desk, held, outside);
    return true;
  });
}

async function postpone({ db, now }: ClearingDesk, { merchantId, id }: Named): Promise<void> {
  await db.pool
    .update(clearing)
    .set({ dueAt: new Date(now().getTime() + AFTER_FAULT_MS) })
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, id as `clr_${string}`)));
}

async function peek({ db }: ClearingDesk, { merchantId, id }: Named): Promise<Held | null> {
  const [row] = await db.pool
    .select({ clearing, intent: paymentIntent })
    .from(clearing)
    .innerJoin(
      paymentIntent,
      and(eq(paymentIntent.merchantId, clearing.merchantId), eq(paymentIntent.id, clearing.intentId)),
    )
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, id as `clr_${string}`)));
  return row ?? null;
}

/** Intent first, then clearing, as everybody; what somebody else holds is left to them. */
async function lockFree(tx: Tx, { intent, clearing: row }: Held): Promise<Held | null> {
  const [held] = await tx
    .select()
    .from(paymentIntent)
    .where(and(eq(paymentIntent.merchantId, intent.merchantId), eq(paymentIntent.id, intent.id)))
    .for("update", { skipLocked: true });
  const [mine] = held
    ? await tx
        .select()
        .from(clearing)
        .where(and(eq(clearing.merchantId, row.merchantId), eq(clearing.id, row.id)))
        .for("update", { skipLocked: true })
    : [];
  return held && mine ? { intent: held, clearing: mine } : null;
}

/** What has to be known from elsewhere: agents' payments of the same thing, today's rate, what became of returns. */
export async function askOutside(desk: ClearingDesk, { intent, clearing: row }: Held): Promise<Outside> {
  return {
    dueAt: row.dueAt,
    payments: await paymentsOf(desk, intent, row),
    isRateGood: await isRateGood(desk, row),
    returned: await returnedOf(desk, row),
  };
}

/** Payments of an intent that agents were offered; of one that an agent's payment of a resource made, that payment. */
export async function paymentsOf(
  { facilitator }: { readonly facilitator: Pick<ClearingDesk["facilitator"], "payments"> },
  intent: IntentRow,
  row: Pick<ClearingRow, "executionPath" | "providerReference"> | null,
): Promise<readonly PaymentView[]> {
  if (intent.offerAmount !== null) return facilitator.payments({ payableIds: [intent.id] });
  const id = row?.executionPath === "x402" ? row.providerReference : null;
  return id === null ? [] : facilitator.payments({ ids: [id] });
}

const GUARD_BPS = 50n;
const BPS = 10_000n;

/** Late money may be taken by itself at a rate that is one to one, or within 50 basis points of today's. Source:
 *  merchant-api.md §1.4. */
async function isRateGood({ db, rates, now }: ClearingDesk, row: ClearingRow): Promise<boolean> {
  if (row.rateSource === "identity" || row.rateSource === "parity") return true;
  if (now() <= row.expiresAt || row.state === "settled") return true;
  const spreadBps = await lockedSpread(db.pool, row);
  const answer = await withSpread(rates, spreadBps).rate({ from: row.rateFrom, to: row.rateTo });
  if (!answer.ok) return false;
  const off = answer.rate.scaledRate - row.scaledRate;
  return (off < 0n ? -off : off) * BPS <= row.scaledRate * GUARD_BPS;
}

/** The margin in the rate that a clearing is locked at: the merchant may have another by now. */
async function lockedSpread(db: Executor, { merchantId, id }: ClearingRow): Promise<number> {
  const [lock] = await db
    .select({ spreadBps: rateSnapshot.spreadBps })
    .from(clearingOrder)
    .innerJoin(
      rateSnapshot,
      and(eq(rateSnapshot.merchantId, clearingOrder.merchantId), eq(rateSnapshot.id, clearingOrder.rateId)),
    )
    .where(and(eq(clearingOrder.merchantId, merchantId), eq(clearingOrder.clearingId, id)))
    .orderBy(desc(clearingOrder.seq))
    .limit(1);
  return lock?.spreadBps ?? 0;
}

async function returnedOf(
  { db, facilitator }: ClearingDesk,
  { merchantId, id }: ClearingRow,
): Promise<Outside["returned"]> {
  const rows = await db.pool
    .select({ id: clearingReturn.id })
    .from(clearingReturn)
    .where(
      and(
        eq(clearingReturn.merchantId, merchantId),
        eq(clearingReturn.clearingId, id),
        sql`${clearingReturn.state} = 'sending'`,
      ),
    );
  if (rows.length === 0) return new Map();
  const statuses = await facilitator.outgoing.status(rows.map((row) => row.id));
  return new Map(statuses.map((status) => [status.id, status]));
}

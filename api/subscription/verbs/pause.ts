import { sql } from "drizzle-orm";
import { insertMany, type Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { isAnyOverdue } from "../../invoice/verbs/of-subscription.ts";
import { presentSubscription, type SubscriptionRow } from "../present.ts";
import { cycleAt, firstAfter } from "../schedule.ts";
import type { PauseInput, Subscription, SubscriptionPath } from "../schema.ts";
import { subscriptionCycle } from "../tables.ts";
import { lockSubscription, moveSubscription } from "./move.ts";

/** Issues nothing any more until it is resumed; what is open stays payable, and nobody is reminded. Repeated it is as it
 *  is. Faults: `not_found`, `subscription_cancelled`. */
export async function pauseSubscription(
  desk: InvoiceDesk,
  { ctx, input }: Call<SubscriptionPath & PauseInput>,
): Promise<Subscription> {
  ctx.demand("catalog:manage");
  return ctx.tx(async (tx) => {
    const row = await lockSubscription(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "cancelled") throw fault("subscription_cancelled");
    if (row.state === "paused") return presentSubscription(row);
    const pause = { pausedAt: desk.now(), reason: input.reason ?? null, missed: null };
    return presentSubscription(await pauseLocked(tx, desk, row, pause));
  });
}

interface Pause {
  /** Cycles that begin from then on fall into the pause. */
  readonly pausedAt: Date;
  readonly reason: string | null;
  /** How many cycles were missed, where that is why. */
  readonly missed: number | null;
}

/** The same for one in hand. */
export async function pauseLocked(
  tx: Tx,
  desk: InvoiceDesk,
  row: SubscriptionRow,
  { pausedAt, reason, missed }: Pause,
): Promise<SubscriptionRow> {
  const changes = { pausedAt, pauseReason: reason };
  return moveSubscription(tx, desk, { row, trigger: "pause", changes, payload: { reason, missed } });
}

/** Goes on with the first cycle that begins after now: those that fell into the pause are skipped for good. One that is
 *  not paused is as it is. Faults: `not_found`, `subscription_cancelled`. */
export async function resumeSubscription(
  desk: InvoiceDesk,
  { ctx, input }: Call<SubscriptionPath>,
): Promise<Subscription> {
  ctx.demand("catalog:manage");
  return ctx.tx(async (tx) => {
    const row = await lockSubscription(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "cancelled") throw fault("subscription_cancelled");
    if (row.state !== "paused") return presentSubscription(row);
    return presentSubscription(await resumeLocked(tx, desk, row));
  });
}

async function resumeLocked(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow): Promise<SubscriptionRow> {
  const nextIndex = await skipPaused(tx, desk, row);
  const resumed = await moveSubscription(tx, desk, { row, trigger: "resume", changes: { nextIndex } });
  if (!(await isAnyOverdue(tx, resumed))) return resumed;
  return moveSubscription(tx, desk, { row: resumed, trigger: "fall-behind" });
}

/** Consumes the cycles that fell into the pause, and gives the one to go on with. What was due before the pause and is
 *  not issued yet is still owed: then it goes on there, and passes the skipped ones by. */
async function skipPaused(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow): Promise<number> {
  const now = desk.now();
  const { nextIndex, pausedAt } = row;
  const end = Math.max(nextIndex, firstAfter(row, now));
  const skipped = Array.from({ length: end - nextIndex }, (_, i) => nextIndex + i).filter(
    (index) => pausedAt === null || cycleAt(row, index) >= pausedAt,
  );
  const rows = skipped.map((cycleIndex) => ({
    ...{ merchantId: row.merchantId, subscriptionId: row.id, cycleIndex, state: "skipped" as const },
    ...{ invoiceId: null, createdAt: now },
    startsAt: cycleAt(row, cycleIndex),
    endsAt: cycleAt(row, cycleIndex + 1),
  }));
  // Some may have been skipped by a pause before, where what was due then is not issued yet.
  if (rows.length > 0) await tx.execute(sql`${insertMany(subscriptionCycle, rows)} ON CONFLICT DO NOTHING`);
  return skipped.length === end - nextIndex ? end : nextIndex;
}

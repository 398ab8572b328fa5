import { and, asc, eq, inArray, lte } from "drizzle-orm";
import type { OutgoingStatus } from "#facilitator";
import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import { errorFields, type Log } from "#kernel/log";
import { type Database, fixed, type outbox, type Tx } from "#store";
import type { RefundRow } from "../present.ts";
import { isOver, type RefundTrigger, stepsTo } from "../state.ts";
import { refund } from "../tables.ts";
import { isItsPaymentPosted } from "./change.ts";
import { isIt, moveRefund } from "./move.ts";
import { LOOK_EVERY_MS, type RefundDesk, reserve } from "./reserve.ts";

/** What following refunds needs. */
export interface Follower extends RefundDesk {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}
/** A refund as it was found to be due. */
type Seen = Pick<RefundRow, "merchantId" | "id" | "chain" | "reservedAt" | "dueAt">;

const GROUP = 50;

/** Looks at the refunds that are due: reserves those whose payment has become final, and brings the others to where the
 *  lanes are with their money. Reads what is so now, whatever it was told; a refund that cannot go on is looked at again
 *  later. Returns how many it had in hand. */
export async function followRefunds(follower: Follower): Promise<number> {
  const { db, clock, facilitator } = follower;
  const { merchantId, id, chain, reservedAt, dueAt } = refund;
  const due = await db.pool
    .select({ merchantId, id, chain, reservedAt, dueAt })
    .from(refund)
    .where(lte(dueAt, clock.now()))
    .orderBy(asc(dueAt))
    .limit(GROUP);
  const sent = due.filter((each) => each.reservedAt !== null).map((each) => each.id);
  const orders = new Map((await facilitator.outgoing.status(sent)).map((order) => [order.id, order]));
  let done = 0;
  for (const seen of due) if (await lookAt(follower, seen, orders.get(seen.id))) done += 1;
  return done;
}

async function lookAt(follower: Follower, seen: Seen, order: OutgoingStatus | undefined): Promise<boolean> {
  const { db, clock, log } = follower;
  try {
    return await db.tx(async (tx) => {
      const row = await take(tx, seen);
      if (!row) return false;
      await (row.reservedAt === null ? reserveIfPosted(follower, tx, row) : follow(follower, tx, row, order));
      return true;
    });
  } catch (error) {
    log.warn(
      { refund: seen.id, ...errorFields(error) },
      "a refund cannot go on; it is looked at again later",
    );
    await db.pool
      .update(refund)
      .set({ dueAt: later(clock, LOOK_EVERY_MS) })
      .where(asSeen(seen));
    return false;
  }
}

/** The refund, held; null when another process has it, or somebody made it due anew and what was read is old. */
async function take(tx: Tx, seen: Seen): Promise<RefundRow | null> {
  const [row] = await tx.select().from(refund).where(asSeen(seen)).for("update", { skipLocked: true });
  return row ?? null;
}

function asSeen(seen: Seen) {
  return and(isIt(seen), seen.dueAt ? eq(refund.dueAt, seen.dueAt) : undefined);
}

async function reserveIfPosted(follower: Follower, tx: Tx, row: RefundRow): Promise<void> {
  const { clock, facilitator } = follower;
  if (await isItsPaymentPosted(tx, row)) {
    await reserve(follower, tx, row, clock.now());
    return;
  }
  const served = facilitator.chains().find(({ chain }) => chain === row.chain);
  const patience = served ? Math.min(LOOK_EVERY_MS, served.blockTimeSeconds * 500) : LOOK_EVERY_MS;
  await tx
    .update(refund)
    .set({ dueAt: later(clock, patience) })
    .where(isIt(row));
}

async function follow(
  { clock, newId }: Follower,
  tx: Tx,
  seen: RefundRow,
  order: OutgoingStatus | undefined,
): Promise<void> {
  let row = seen;
  const now = () => clock.now();
  if (order)
    for (const trigger of stepsTo(row.state, order.state))
      row = await moveRefund(tx, { newId, now }, { row, trigger, changes: learnt(trigger, order) });
  if (isOver(row.state)) return;
  const providerReference = order?.transaction ?? null;
  const isNews = order !== undefined && row.providerReference !== providerReference;
  await tx
    .update(refund)
    .set({ dueAt: later(clock, LOOK_EVERY_MS), ...(isNews && { providerReference, updatedAt: now() }) })
    .where(isIt(row));
}

const UNSENT = "Its transfer could not be made in time. Nothing left, and the money is available again.";

function learnt(trigger: RefundTrigger, { transaction, failure }: OutgoingStatus) {
  return {
    providerReference: transaction,
    ...(trigger === "fail" && { failureReason: failure ?? UNSENT }),
  };
}

function later(clock: Clock, ms: number): Date {
  return new Date(clock.now().getTime() + ms);
}

/** Makes due what the facts are about; what became of it is read, not believed. */
export async function hearOfRefunds(
  tx: Tx,
  facts: readonly outbox.Fact[],
  { clock }: Pick<Follower, "clock">,
): Promise<void> {
  const told = facts.filter(({ type, subject }) => type.startsWith("outgoing.") && subject.startsWith("re_"));
  if (told.length === 0) return;
  const ids = [...new Set(told.map(({ subject }) => subject as `re_${string}`))].sort();
  const merchants = [...new Set(told.map(({ merchantId }) => merchantId))];
  const held = await tx
    .select({ id: refund.id })
    .from(refund)
    .where(and(inArray(refund.merchantId, merchants), inArray(refund.id, ids)))
    .orderBy(refund.id)
    .for("update");
  if (held.length === 0) return;
  await tx
    .update(refund)
    .set({ dueAt: clock.now() })
    .where(
      and(
        inArray(refund.merchantId, merchants),
        inArray(
          refund.id,
          held.map(({ id }) => id),
        ),
        fixed(inArray(refund.state, ["pending", "processing"])),
      ),
    );
}

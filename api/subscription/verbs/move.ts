import { and, desc, eq, isNotNull } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { isId, type NewId } from "#kernel/id";
import { type Executor, outbox, type Tx } from "#store";
import { fault } from "../../http/faults.ts";
import { holdReminders } from "../../invoice/verbs/of-subscription.ts";
import type { SubscriptionRow } from "../present.ts";
import { cycleAt, type Schedule } from "../schedule.ts";
import { advance, isBilling, type SubscriptionState, type SubscriptionTrigger } from "../state.ts";
import { subscription, subscriptionCycle } from "../tables.ts";

/** Who changes a subscription, and when. */
export interface Changer {
  readonly newId: NewId;
  readonly now: () => Date;
}
type Changes = Partial<
  Omit<SubscriptionRow, "merchantId" | "id" | "state" | "version" | "nextBillingAt" | "dueAt">
>;

/** What is told of a subscription that has become so. */
const told = {
  "fall-behind": "subscription.past_due",
  recover: "subscription.recovered",
  pause: "subscription.paused",
  resume: "subscription.resumed",
  cancel: "subscription.cancelled",
} as const satisfies Record<SubscriptionTrigger, string>;

/** Brings a subscription one step on and tells of it, in the transaction that holds its row. Nothing else writes its
 *  state. */
export async function moveSubscription(
  tx: Tx,
  changer: Changer,
  {
    row,
    trigger,
    changes = {},
    payload = {},
  }: {
    readonly row: SubscriptionRow;
    readonly trigger: SubscriptionTrigger;
    readonly changes?: Changes;
    readonly payload?: Readonly<Record<string, unknown>>;
  },
): Promise<SubscriptionRow> {
  const state = advance(row.state, trigger);
  // However a pause ends, what is still open is reminded of again.
  if (state === "paused" || row.state === "paused") await holdReminders(tx, row, state === "paused");
  const over = {
    ...(!isBilling(state) && { batch: null }),
    ...(state !== "paused" && { pausedAt: null, pauseReason: null }),
  };
  const moved = await changeSubscription(tx, changer, row, { ...changes, ...over }, state);
  const previous = { state: row.state };
  const fact = factOf(changer.newId, moved, { type: told[trigger], previous, ...payload });
  await outbox.append(tx, [fact, ...(await cutShort(tx, changer, row, moved))]);
  return moved;
}

/** Cycles that were to be told together with those that come no more now: they are told as they are, unless they are to be
 *  taken back. */
async function cutShort(
  tx: Tx,
  { newId }: Changer,
  { batch, sendEmail }: SubscriptionRow,
  moved: SubscriptionRow,
): Promise<readonly outbox.Fact[]> {
  if (batch === null || moved.batch !== null || !sendEmail || moved.voidsOpen) return [];
  const last = await lastInvoice(tx, moved);
  const payload = { sendEmail, batch, isLastOfBatch: true };
  return [
    { id: newId("evt"), type: "invoice.batch_cut", subject: last, merchantId: moved.merchantId, payload },
  ];
}

async function lastInvoice(tx: Tx, { merchantId, id }: SubscriptionRow): Promise<string> {
  const { merchantId: owner, subscriptionId, invoiceId, cycleIndex } = subscriptionCycle;
  const [last] = await tx
    .select({ invoiceId })
    .from(subscriptionCycle)
    .where(and(eq(owner, merchantId), eq(subscriptionId, id), isNotNull(invoiceId)))
    .orderBy(desc(cycleIndex))
    .limit(1);
  assert(last?.invoiceId, "who has begun to tell cycles together has issued one");
  return last.invoiceId;
}

/** Changes one that is held. When it bills next follows from the rest. */
export async function changeSubscription(
  tx: Tx,
  { now }: Changer,
  row: SubscriptionRow,
  changes: Changes,
  state: SubscriptionState = row.state,
): Promise<SubscriptionRow> {
  const next = { ...row, ...changes, state };
  const [changed] = await tx
    .update(subscription)
    .set({ ...changes, ...dueOf(next), state, version: row.version + 1, updatedAt: now() })
    .where(and(isIt(row), eq(subscription.version, row.version)))
    .returning();
  assert(changed, "a subscription was changed by who did not hold it");
  return changed;
}

/** When the next cycle begins, and when there is something to do. */
export function dueOf(
  row: Schedule & Pick<SubscriptionRow, "state" | "billedCycles" | "maxCycles" | "nextIndex" | "cancelAt">,
): Pick<SubscriptionRow, "nextBillingAt" | "dueAt"> {
  if (!isBilling(row.state))
    return { nextBillingAt: null, dueAt: row.state === "paused" ? row.cancelAt : null };
  const isOver = row.maxCycles !== null && row.billedCycles >= row.maxCycles;
  const next = isOver ? null : cycleAt(row, row.nextIndex);
  const { cancelAt } = row;
  const endsFirst = next !== null && cancelAt !== null && cancelAt <= next;
  const nextBillingAt = endsFirst ? null : next;
  return { nextBillingAt, dueAt: nextBillingAt ?? cancelAt };
}

/** A fact about a subscription. */
export function factOf(
  newId: NewId,
  { id, merchantId }: Pick<SubscriptionRow, "id" | "merchantId">,
  {
    type,
    ...payload
  }: { readonly type: string; readonly previous: object | null } & Readonly<Record<string, unknown>>,
): outbox.Fact {
  return { id: newId("evt"), type, subject: id, merchantId, payload };
}

export function isIt({ merchantId, id }: Pick<SubscriptionRow, "merchantId" | "id">) {
  return and(eq(subscription.merchantId, merchantId), eq(subscription.id, id));
}

interface Named {
  readonly merchantId: string;
  readonly id: string;
}

/** Fault: `not_found`, also for another merchant's. */
export async function findSubscription(db: Executor, { merchantId, id }: Named): Promise<SubscriptionRow> {
  const [row] = isId("sub", id) ? await db.select().from(subscription).where(isIt({ merchantId, id })) : [];
  if (!row) throw fault("not_found");
  return row;
}

/** The same, held until the transaction ends; before its invoices, as everybody. */
export async function lockSubscription(tx: Tx, { merchantId, id }: Named): Promise<SubscriptionRow> {
  const [row] = isId("sub", id)
    ? await tx.select().from(subscription).where(isIt({ merchantId, id })).for("update")
    : [];
  if (!row) throw fault("not_found");
  return row;
}

import { and, asc, eq, gte, isNotNull, lt, lte } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { type Executor, outbox, type Tx } from "#store";
import { customer } from "../../customer/tables.ts";
import type { Buyer } from "../../invoice/tables.ts";
import { blank } from "../../invoice/verbs/create.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { insertIssued } from "../../invoice/verbs/issue.ts";
import { sellerOf } from "../../invoice/verbs/seller.ts";
import { merchant } from "../../merchant/tables.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import type { SubscriptionRow } from "../present.ts";
import { countDue, cycleAt } from "../schedule.ts";
import { isBilling } from "../state.ts";
import { subscription, subscriptionCycle } from "../tables.ts";
import { changeSubscription, factOf, isIt, moveSubscription } from "./move.ts";
import { pauseLocked } from "./pause.ts";

/** Cycles at a time in one process, and how many of them before others have their turn. */
const LANES = 4;
const GROUP = 50;
const AFTER_FAULT_MS = 60_000;
/** A suspended merchant bills nobody. What its subscriptions missed is billed once it is resumed. */
const WHILE_SUSPENDED_MS = 3_600_000;
/** More missed cycles than these are not a downtime: a person has to look. */
const MOST_MISSED = 31;
type Named = Pick<SubscriptionRow, "merchantId" | "id">;

/** Issues cycles that are due, oldest first, each in a transaction of its own; how many. What somebody else has in hand is
 *  left to him. */
export async function billDue(desk: InvoiceDesk): Promise<number> {
  // As a rule nothing is due, and one look tells.
  if (!(await billNext(desk))) return 0;
  const lanes = await Promise.all(Array.from({ length: LANES }, () => billSome(desk)));
  return lanes.reduce((sum, done) => sum + done, 1);
}

async function billSome(desk: InvoiceDesk): Promise<number> {
  for (let done = 0; done < GROUP; done += 1) if (!(await billNext(desk))) return done;
  return GROUP;
}

/** False when there is nothing left to do. */
async function billNext(desk: InvoiceDesk): Promise<boolean> {
  let named: Named | null = null;
  try {
    return await desk.db.tx(async (tx) => {
      const [found] = await tx
        .select({ row: subscription, suspendedAt: merchant.suspendedAt })
        .from(subscription)
        .innerJoin(merchant, eq(merchant.id, subscription.merchantId))
        .where(and(isNotNull(subscription.dueAt), lte(subscription.dueAt, desk.now())))
        .orderBy(asc(subscription.dueAt))
        .limit(1)
        .for("update", { of: subscription, skipLocked: true });
      if (!found) return false;
      named = found.row;
      if (found.suspendedAt === null) await bringUp(tx, desk, found.row);
      else await putOff(tx, desk, found.row, WHILE_SUSPENDED_MS);
      return true;
    });
  } catch (error) {
    if (!named) throw error;
    await postpone(desk, named, error);
    return true;
  }
}

/** What fails must not keep the others from their turn. */
async function postpone({ db, now, log }: InvoiceDesk, named: Named, error: unknown): Promise<void> {
  log.error(
    { subscription: named.id, ...errorFields(error) },
    "a cycle could not be issued; it is tried again",
  );
  await putOff(db.pool, { now }, named, AFTER_FAULT_MS);
}

/** Looks at it later; its cycles stay those of its schedule. */
async function putOff(
  db: Executor,
  { now }: Pick<InvoiceDesk, "now">,
  named: Named,
  ms: number,
): Promise<void> {
  const dueAt = new Date(now().getTime() + ms);
  await db
    .update(subscription)
    .set({ dueAt })
    .where(and(isIt(named), lte(subscription.dueAt, now())));
}

/** The one thing that is due now of a subscription in hand: its end, or its next cycle. */
export async function bringUp(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow): Promise<SubscriptionRow> {
  const now = desk.now();
  if (row.nextBillingAt === null || !isBilling(row.state)) return end(tx, desk, row, now);
  const missed = await leftOf(tx, row, now);
  if (missed > MOST_MISSED) return giveUp(tx, desk, row, missed);
  return issueCycle(tx, desk, row, missed);
}

/** How many cycles are to be billed: no more than its end and its number of cycles allow, and none that fell into a pause. */
async function leftOf(tx: Tx, row: SubscriptionRow, now: Date): Promise<number> {
  const { maxCycles, billedCycles, cancelAt, nextIndex } = row;
  // The cycle that would begin as it ends is none.
  const until = cancelAt !== null && cancelAt <= now ? new Date(cancelAt.getTime() - 1) : now;
  const begun = countDue(row, nextIndex, until);
  const due = begun > 1 ? begun - (await countSkipped(tx, row, nextIndex + begun)) : begun;
  return maxCycles === null ? due : Math.min(due, maxCycles - billedCycles);
}

/** Of what comes next nothing is issued yet: a cycle that stands there already was skipped. */
function countSkipped(
  tx: Tx,
  { merchantId, id, nextIndex }: Pick<SubscriptionRow, "merchantId" | "id" | "nextIndex">,
  end: number,
): Promise<number> {
  const { merchantId: merchant, subscriptionId, cycleIndex } = subscriptionCycle;
  return tx.$count(
    subscriptionCycle,
    and(eq(merchant, merchantId), eq(subscriptionId, id), gte(cycleIndex, nextIndex), lt(cycleIndex, end)),
  );
}

function end(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow, now: Date): Promise<SubscriptionRow> {
  return moveSubscription(tx, desk, { row, trigger: "cancel", changes: { cancelledAt: now } });
}

async function giveUp(
  tx: Tx,
  desk: InvoiceDesk,
  row: SubscriptionRow,
  missed: number,
): Promise<SubscriptionRow> {
  desk.log.error(
    { subscription: row.id, merchantId: row.merchantId, missed },
    "too many cycles were missed: the subscription is paused until its merchant resumes it",
  );
  // It pauses where it stopped, so that resuming does not bring the flood after all.
  const pausedAt = cycleAt(row, row.nextIndex);
  return pauseLocked(tx, desk, row, { pausedAt, reason: `${missed} cycles were missed`, missed });
}

async function issueCycle(
  tx: Tx,
  desk: InvoiceDesk,
  row: SubscriptionRow,
  missed: number,
): Promise<SubscriptionRow> {
  const index = row.nextIndex;
  const [startsAt, endsAt] = [cycleAt(row, index), cycleAt(row, index + 1)];
  const key = { merchantId: row.merchantId, subscriptionId: row.id, cycleIndex: index };
  const invoiceId = desk.newId("inv");
  const made = await tx
    .insert(subscriptionCycle)
    .values({ ...key, state: "issued", invoiceId, startsAt, endsAt, createdAt: desk.now() })
    .onConflictDoNothing()
    .returning({ cycleIndex: subscriptionCycle.cycleIndex });
  // It fell into a pause: skipped for good. Nothing is told of it, so it neither begins nor ends what is told together.
  if (made.length === 0) return changeSubscription(tx, desk, row, { nextIndex: index + 1 });
  const batch = row.batch ?? (missed > 1 ? invoiceId : null);
  const after = { nextIndex: index + 1, batch: missed > 1 ? batch : null };
  const buyer = await buyerOf(tx, row);
  await writeInvoice(tx, desk, row, {
    index,
    startsAt,
    endsAt,
    invoiceId,
    batch,
    buyer,
    isLast: missed <= 1,
  });
  const subscriber = { customerName: buyer.name, customerEmail: buyer.email };
  return changeSubscription(tx, desk, row, { ...after, ...subscriber, billedCycles: row.billedCycles + 1 });
}

interface Cycle {
  readonly index: number;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly invoiceId: `inv_${string}`;
  readonly batch: string | null;
  readonly buyer: Buyer;
  readonly isLast: boolean;
}

async function writeInvoice(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow, cycle: Cycle): Promise<void> {
  const merchant = await findMerchant(tx, row.merchantId);
  const { startsAt, endsAt, index, invoiceId, batch, buyer } = cycle;
  const createdAt = desk.now();
  const name = `${row.description} (${dayOf(startsAt)} to ${dayOf(endsAt)})`;
  const { issuedAt: _, sequence: __, number: ___, remindAt: ____, ...unissued } = blank;
  await insertIssued(tx, desk, {
    row: {
      ...unissued,
      ...sellerOf(merchant),
      merchantId: merchant.id,
      id: invoiceId,
      buyer,
      currency: row.currency,
      lines: [{ productId: null, name, unitPrice: row.amount.toString(), quantity: 1 }],
      total: row.amount,
      notes: null,
      metadata: row.metadata,
      daysUntilDue: row.daysUntilDue,
      sendEmail: row.sendEmail,
      subscriptionId: row.id,
      cycleIndex: index,
      periodStart: startsAt,
      periodEnd: endsAt,
      createdAt,
      updatedAt: createdAt,
    },
    prefix: merchant.invoicePrefix,
    batch,
    isLastOfBatch: cycle.isLast,
  });
  const told = { previous: null, invoiceId, cycleIndex: index, batch };
  await outbox.append(tx, [factOf(desk.newId, row, { type: "subscription.cycle_issued", ...told })]);
}

/** As the customer is when the cycle is billed. */
async function buyerOf(tx: Tx, { merchantId, customerId }: SubscriptionRow) {
  const [buyer] = await tx
    .select({ name: customer.name, email: customer.email, taxId: customer.taxId, address: customer.address })
    .from(customer)
    .where(and(eq(customer.merchantId, merchantId), eq(customer.id, customerId)));
  assert(buyer, `customer ${customerId} of a subscription is there`);
  return buyer;
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

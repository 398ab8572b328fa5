import { and, eq, max } from "drizzle-orm";
import type { Money } from "#kernel/money";
import { fixed, type Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { changesNothing } from "../../http/unchanged.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { openInvoicesOf } from "../../invoice/verbs/of-subscription.ts";
import { presentSubscription, type SubscriptionRow } from "../present.ts";
import { cycleAt, firstAfter } from "../schedule.ts";
import type { CancelInput, Subscription, SubscriptionChange, SubscriptionPath } from "../schema.ts";
import { subscriptionCycle } from "../tables.ts";
import { changeSubscription, dueOf, lockSubscription, moveSubscription } from "./move.ts";

/** Changes what the next cycle asks for. Faults: `not_found`, `version_conflict`, `subscription_cancelled`,
 *  `subscription_behind`. */
export async function editSubscription(
  desk: InvoiceDesk,
  { ctx, input, money }: Call<SubscriptionPath & SubscriptionChange> & { readonly money: Money | null },
): Promise<Subscription> {
  ctx.demand("catalog:manage");
  return ctx.tx(async (tx) => {
    const row = await lockSubscription(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "cancelled") throw fault("subscription_cancelled");
    if (input.version !== undefined && input.version !== row.version)
      throw fault("version_conflict", { currentVersion: row.version, pointer: "/version" });
    if (isBehind(row, desk.now())) throw fault("subscription_behind");
    const { description, daysUntilDue, metadata } = input;
    const changes = {
      ...(money && { amount: money.amount, currency: money.asset }),
      ...(description !== undefined && { description }),
      ...(daysUntilDue !== undefined && { daysUntilDue }),
      ...(metadata !== undefined && { metadata }),
    };
    return presentSubscription(await keep(tx, desk, row, changes));
  });
}

/** A cycle is due, or was before a pause: it was agreed to as it stands. */
function isBehind(row: SubscriptionRow, now: Date): boolean {
  const { nextBillingAt } = dueOf({ ...row, state: "active" });
  if (nextBillingAt === null) return false;
  return row.pausedAt === null ? nextBillingAt <= now : nextBillingAt < row.pausedAt;
}

/** What was already so is no change. */
async function keep(
  tx: Tx,
  desk: InvoiceDesk,
  row: SubscriptionRow,
  changes: Parameters<typeof changeSubscription>[3],
): Promise<SubscriptionRow> {
  return changesNothing(row, changes) ? row : changeSubscription(tx, desk, row, changes);
}

/** Ends it, now or when its period ends. Repeated it is as it is; what is open may be voided afterwards. Fault:
 *  `not_found`. */
export async function cancelSubscription(
  desk: InvoiceDesk,
  { ctx, input }: Call<SubscriptionPath & CancelInput>,
): Promise<Subscription> {
  ctx.demand("catalog:manage");
  return ctx.tx(async (tx) => {
    const row = await lockSubscription(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "cancelled") return presentSubscription(await voidAfterwards(tx, desk, row, input));
    const now = desk.now();
    const voidsOpen = row.voidsOpen || input.voidOpenInvoices;
    // Said again it ends when it was to end, also where that is past and nobody has come to it yet.
    const cancelAt = input.at === "period-end" ? (row.cancelAt ?? (await periodEnd(tx, row, now))) : null;
    if (cancelAt) return presentSubscription(await keep(tx, desk, row, { cancelAt, voidsOpen }));
    const changes = { cancelledAt: now, cancelAt: null, voidsOpen };
    return presentSubscription(await moveSubscription(tx, desk, { row, trigger: "cancel", changes }));
  });
}

async function voidAfterwards(
  tx: Tx,
  desk: InvoiceDesk,
  row: SubscriptionRow,
  { voidOpenInvoices }: CancelInput,
): Promise<SubscriptionRow> {
  const isAsked = voidOpenInvoices && (await openInvoicesOf(tx, row)).length > 0;
  return isAsked ? keep(tx, desk, row, { voidsOpen: true }) : row;
}

/** When the cycle that runs now ends; null before the first and when the last is over. */
async function periodEnd(tx: Tx, row: SubscriptionRow, now: Date): Promise<Date | null> {
  if (row.maxCycles !== null && row.billedCycles >= row.maxCycles) {
    const last = await lastPeriodEnd(tx, row);
    return last && last > now ? last : null;
  }
  const next = firstAfter(row, now);
  return next === 0 ? null : cycleAt(row, next);
}

async function lastPeriodEnd(tx: Tx, { merchantId, id }: SubscriptionRow): Promise<Date | null> {
  const { merchantId: owner, subscriptionId, state, endsAt } = subscriptionCycle;
  const [last] = await tx
    .select({ endsAt: max(endsAt) })
    .from(subscriptionCycle)
    .where(and(eq(owner, merchantId), eq(subscriptionId, id), fixed(eq(state, "issued"))));
  return last?.endsAt ?? null;
}

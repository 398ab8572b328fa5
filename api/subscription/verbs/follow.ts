import { and, asc, eq } from "drizzle-orm";
import { Fault } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { fixed, type outbox, type Tx } from "#store";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { agentsPayments } from "../../invoice/verbs/intents.ts";
import { lockInvoice } from "../../invoice/verbs/move.ts";
import {
  isAnyOverdue,
  longOverdue,
  openInvoicesOf,
  writeOffOpen,
} from "../../invoice/verbs/of-subscription.ts";
import { voidLocked } from "../../invoice/verbs/void.ts";
import type { SubscriptionRow } from "../present.ts";
import { isBilling } from "../state.ts";
import { subscription } from "../tables.ts";
import { changeSubscription, isIt, lockSubscription, moveSubscription } from "./move.ts";
import { pauseLocked } from "./pause.ts";

/** Hears what became of invoices: a subscription is past due while one of its own is. */
export async function hearInvoices(tx: Tx, desk: InvoiceDesk, facts: readonly outbox.Fact[]): Promise<void> {
  const about = new Map<string, { readonly merchantId: string; readonly id: string }>();
  for (const { type, merchantId, payload } of facts)
    if (
      type.startsWith("invoice.") &&
      typeof payload.subscriptionId === "string" &&
      type !== "invoice.issued"
    )
      about.set(`${merchantId} ${payload.subscriptionId}`, { merchantId, id: payload.subscriptionId });
  // In one order for everybody: two that hear of the same ones must not wait for each other.
  for (const [, named] of [...about].sort(([a], [b]) => (a < b ? -1 : 1))) await reckon(tx, desk, named);
}

async function reckon(
  tx: Tx,
  desk: InvoiceDesk,
  named: { readonly merchantId: string; readonly id: string },
): Promise<void> {
  const row = await lockSubscription(tx, named);
  if (!isBilling(row.state)) return;
  const isBehind = await isAnyOverdue(tx, row);
  if (isBehind && row.state === "active") await moveSubscription(tx, desk, { row, trigger: "fall-behind" });
  if (!isBehind && row.state === "past-due") await moveSubscription(tx, desk, { row, trigger: "recover" });
}

const DAY_MS = 86_400_000;
const LONG_DAYS = 30;
const GROUP = 20;

/** What follows where an invoice has been overdue for 30 days, as its merchant wants it; how many. */
export async function endUnpaid(desk: InvoiceDesk): Promise<number> {
  const than = new Date(desk.now().getTime() - LONG_DAYS * DAY_MS);
  const found = await longOverdue(desk.db.pool, than, GROUP);
  let done = 0;
  for (const { merchantId, id, subscriptionId, action } of found)
    await desk.db.tx(async (tx) => {
      const row = await lockSubscription(tx, { merchantId, id: subscriptionId });
      if (!(await writeOffOpen(tx, desk, { merchantId, id }))) return;
      done += 1;
      await endOne(tx, desk, row, action);
    });
  return done;
}

async function endOne(tx: Tx, desk: InvoiceDesk, row: SubscriptionRow, action: string): Promise<void> {
  const reason = "an invoice has been overdue for 30 days";
  if (row.state === "cancelled") return;
  if (action === "pause" && row.state !== "paused")
    await pauseLocked(tx, desk, row, { pausedAt: desk.now(), reason, missed: null });
  if (action !== "cancel") return;
  const changes = { cancelledAt: desk.now(), cancelAt: null };
  await moveSubscription(tx, desk, { row, trigger: "cancel", changes, payload: { reason } });
}

/** Voids what is open of cancelled subscriptions whose merchants asked for it; how many subscriptions. Where money is on
 *  its way it stays. */
export async function voidOpen(desk: InvoiceDesk): Promise<number> {
  const rows = await desk.db.pool
    .select()
    .from(subscription)
    .where(and(fixed(eq(subscription.state, "cancelled")), fixed(eq(subscription.voidsOpen, true))))
    .orderBy(asc(subscription.cancelledAt))
    .limit(GROUP);
  for (const row of rows) await voidAll(desk, row);
  return rows.length;
}

async function voidAll(desk: InvoiceDesk, { merchantId, id }: SubscriptionRow): Promise<void> {
  for (const named of await openInvoicesOf(desk.db.pool, { merchantId, id })) await voidOne(desk, named);
  await desk.db.tx(async (tx) => {
    const [row] = await tx.select().from(subscription).where(isIt({ merchantId, id })).for("update");
    if (row?.voidsOpen) await changeSubscription(tx, desk, row, { voidsOpen: false });
  });
}

const expected = new Set(["invoice_payment_in_progress", "invoice_paid"]);

async function voidOne(
  desk: InvoiceDesk,
  named: { readonly merchantId: string; readonly id: `inv_${string}` },
): Promise<void> {
  const payments = await agentsPayments(desk, desk.db.pool, named);
  try {
    await desk.db.tx(async (tx) => {
      const row = await lockInvoice(tx, named);
      if (row.state !== "void") await voidLocked(tx, desk, row, payments);
    });
  } catch (error) {
    if (!(error instanceof Fault && expected.has(error.code))) throw error;
    desk.log.info(
      { invoice: named.id, ...errorFields(error) },
      "an invoice of a cancelled subscription stays open",
    );
  }
}

import { and, asc, eq, isNotNull, isNull, lte } from "drizzle-orm";
import { fixed, outbox, type Tx } from "#store";
import { merchant } from "../../merchant/tables.ts";
import type { InvoiceRow } from "../present.ts";
import { isStillSo, remindersAt } from "../reminders.ts";
import { invoice, invoiceReminder } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { factOf } from "./move.ts";
import { pastDue } from "./past-due.ts";

const GROUP = 100;

/** Calls for the reminders whose time has come, each once; how many invoices were in hand. After a downtime a buyer is
 *  reminded once, by the latest, as far as that is still so; by no merchant that is suspended. */
export async function remindBuyers(desk: InvoiceDesk): Promise<number> {
  const now = desk.now();
  return desk.db.tx(async (tx) => {
    const found = await tx
      .select({ row: invoice, suspendedAt: merchant.suspendedAt })
      .from(invoice)
      .innerJoin(merchant, eq(merchant.id, invoice.merchantId))
      .where(and(isNotNull(invoice.remindAt), lte(invoice.remindAt, now)))
      .orderBy(asc(invoice.remindAt))
      .limit(GROUP)
      .for("update", { of: invoice, skipLocked: true });
    for (const { row, suspendedAt } of found)
      await remind(tx, desk, { row, isHeld: row.remindersHeld || suspendedAt !== null }, now);
    return found.length;
  });
}

async function remind(
  tx: Tx,
  { newId }: InvoiceDesk,
  { row, isHeld }: { readonly row: InvoiceRow; readonly isHeld: boolean },
  now: Date,
): Promise<void> {
  const { merchantId, id, issuedAt, dueAt, state } = row;
  const isOwed = state === "open" && issuedAt !== null && dueAt !== null;
  const { due, nextAt } = isOwed ? remindersAt({ issuedAt, dueAt }, now) : { due: [], nextAt: null };
  const latest = due.at(-1);
  const isMeant = !isHeld && latest !== undefined && isStillSo(latest, now);
  const made =
    due.length === 0
      ? []
      : await tx
          .insert(invoiceReminder)
          .values(
            due.map(({ template }) => ({
              ...{ merchantId, invoiceId: id, template, createdAt: now },
              isTold: isMeant && template === latest.template,
            })),
          )
          .onConflictDoNothing()
          .returning({ template: invoiceReminder.template, isTold: invoiceReminder.isTold });
  const told = made.find(({ isTold }) => isTold);
  if (told) {
    const fact = factOf(newId, row, {
      type: "invoice.reminder_due",
      previous: null,
      template: told.template,
    });
    await outbox.append(tx, [{ ...fact, payload: { ...fact.payload, invoiceId: id } }]);
  }
  await tx
    .update(invoice)
    .set({ remindAt: nextAt })
    .where(and(eq(invoice.merchantId, merchantId), eq(invoice.id, id)));
}

/** Tells of the open invoices that have fallen due, each once; how many. */
export async function tellOverdue({ db, now, newId }: InvoiceDesk): Promise<number> {
  const at = now();
  return db.tx(async (tx) => {
    const rows = await tx
      .select()
      .from(invoice)
      .where(and(fixed(eq(invoice.state, "open")), isNull(invoice.overdueAt), pastDue(at)))
      .orderBy(asc(invoice.dueAt))
      .limit(GROUP)
      .for("update", { skipLocked: true });
    for (const { merchantId, id } of rows)
      await tx
        .update(invoice)
        .set({ overdueAt: at })
        .where(and(eq(invoice.merchantId, merchantId), eq(invoice.id, id)));
    await outbox.append(
      tx,
      rows.map((row) => factOf(newId, row, { type: "invoice.overdue", previous: null })),
    );
    return rows.length;
  });
}

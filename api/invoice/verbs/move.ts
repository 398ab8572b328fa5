import { and, eq } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { isId, type NewId } from "#kernel/id";
import { type Executor, outbox, type Tx } from "#store";
import { fault } from "../../http/faults.ts";
import type { InvoiceRow } from "../present.ts";
import { advance, type InvoiceState, type InvoiceTrigger } from "../state.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { publishInvoice } from "./publish.ts";

/** Who changes an invoice, and when. */
export type Changer = Pick<InvoiceDesk, "facilitator" | "baseUrl" | "newId" | "now">;
type Changes = Partial<Omit<InvoiceRow, "merchantId" | "id" | "state" | "version" | "createdAt">>;

/** What is told of an invoice that has become so. */
const told = {
  issue: "invoice.issued",
  pay: "invoice.paid",
  void: "invoice.voided",
  "write-off": "invoice.marked_uncollectible",
  reopen: "invoice.updated",
} as const satisfies Record<InvoiceTrigger, string>;

/** Brings an invoice one step on, tells of it, and of what agents may pay, in the transaction that holds its row
 *  (`lockInvoice`). Nothing else writes its state. */
export async function moveInvoice(
  tx: Tx,
  changer: Changer,
  {
    row,
    trigger,
    changes = {},
    payload = {},
  }: {
    readonly row: InvoiceRow;
    readonly trigger: InvoiceTrigger;
    readonly changes?: Changes;
    readonly payload?: Readonly<Record<string, unknown>>;
  },
): Promise<InvoiceRow> {
  const state = advance(row.state, trigger);
  const moved = await write(tx, changer, row, { ...changes, state });
  const fact = factOf(changer.newId, moved, {
    type: told[trigger],
    previous: { state: row.state },
    ...payload,
  });
  await outbox.append(tx, [fact]);
  return moved;
}

/** Changes an invoice that stays in its state, and tells of it where a type is given. */
export async function changeInvoice(
  tx: Tx,
  changer: Changer,
  {
    row,
    changes,
    type,
  }: { readonly row: InvoiceRow; readonly changes: Changes; readonly type: string | null },
): Promise<InvoiceRow> {
  const changed = await write(tx, changer, row, changes);
  if (type) await outbox.append(tx, [factOf(changer.newId, changed, { type, previous: null })]);
  return changed;
}

async function write(
  tx: Tx,
  changer: Changer,
  row: InvoiceRow,
  changes: Changes & { readonly state?: InvoiceState },
): Promise<InvoiceRow> {
  const [written] = await tx
    .update(invoice)
    .set({ ...changes, version: row.version + 1, updatedAt: changer.now() })
    .where(and(isIt(row), eq(invoice.version, row.version)))
    .returning();
  assert(written, "an invoice was changed by who did not hold it");
  await publishInvoice(changer, tx, written);
  return written;
}

/** A fact about an invoice. `previous` is what an event cannot read off the row any more. */
export function factOf(
  newId: NewId,
  { id, merchantId, subscriptionId }: Pick<InvoiceRow, "id" | "merchantId" | "subscriptionId">,
  {
    type,
    ...rest
  }: { readonly type: string; readonly previous: object | null } & Readonly<Record<string, unknown>>,
): outbox.Fact {
  return { id: newId("evt"), type, subject: id, merchantId, payload: { subscriptionId, ...rest } };
}

export function isIt({ merchantId, id }: Pick<InvoiceRow, "merchantId" | "id">) {
  return and(eq(invoice.merchantId, merchantId), eq(invoice.id, id));
}

/** An invoice by its id as somebody sent it. */
interface Named {
  readonly merchantId: string;
  readonly id: string;
}

/** Fault: `not_found`, also for another merchant's. */
export async function findInvoice(db: Executor, { merchantId, id }: Named): Promise<InvoiceRow> {
  const [row] = isId("inv", id) ? await db.select().from(invoice).where(isIt({ merchantId, id })) : [];
  if (!row) throw fault("not_found");
  return row;
}

/** The same, held until the transaction ends. Before the intents of the invoice and what it is held by, as everybody. */
export async function lockInvoice(tx: Tx, { merchantId, id }: Named): Promise<InvoiceRow> {
  const [row] = isId("inv", id)
    ? await tx.select().from(invoice).where(isIt({ merchantId, id })).for("update")
    : [];
  if (!row) throw fault("not_found");
  return row;
}

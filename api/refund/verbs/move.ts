import { and, eq } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { isId, type NewId } from "#kernel/id";
import { type Executor, outbox, type Tx } from "#store";
import { fault } from "../../http/faults.ts";
import type { RefundRow } from "../present.ts";
import { advance, isOver, type RefundState, type RefundTrigger } from "../state.ts";
import { refund } from "../tables.ts";

/** Who moves a refund, and when. */
export interface Mover {
  readonly newId: NewId;
  readonly now: () => Date;
}
type Changes = Partial<
  Pick<RefundRow, "destination" | "providerReference" | "failureReason" | "reservedAt" | "dueAt">
>;

/** What is told of a refund that has become so; having an address is told by what follows. */
const told = {
  "requires-destination": "refund.requires_destination",
  pending: null,
  processing: "refund.processing",
  succeeded: "refund.succeeded",
  failed: "refund.failed",
  cancelled: "refund.cancelled",
} as const satisfies Record<RefundState, string | null>;

/** Brings a refund one step on and tells of it, in the transaction that holds its row (`lockRefund`). Nothing else writes
 *  its state. A step that its state does not have is a bug. */
export async function moveRefund(
  tx: Tx,
  { newId, now }: Mover,
  { row, trigger, changes = {} }: { row: RefundRow; trigger: RefundTrigger; changes?: Changes },
): Promise<RefundRow> {
  const state = advance(row.state, trigger);
  const [moved] = await tx
    .update(refund)
    .set({ ...changes, state, updatedAt: now(), ...(isOver(state) && { dueAt: null }) })
    .where(and(isIt(row), eq(refund.state, row.state)))
    .returning();
  assert(moved, "a refund was moved by who did not hold it");
  const type = told[state];
  if (type) await outbox.append(tx, [factOf(newId, moved, { type, previous: row.state })]);
  return moved;
}

/** Tells of a refund that was just made. */
export async function tellOfNew(tx: Tx, { newId }: Mover, row: RefundRow): Promise<void> {
  const types = ["refund.created", row.state === "pending" ? null : told[row.state]];
  await outbox.append(
    tx,
    types.flatMap((type) => (type ? [factOf(newId, row, { type, previous: null })] : [])),
  );
}

function factOf(
  newId: NewId,
  row: RefundRow,
  { type, previous }: { readonly type: string; readonly previous: RefundState | null },
): outbox.Fact {
  const { id, merchantId, intentId, clearingId } = row;
  const payload = { paymentIntentId: intentId, clearingId, previous: previous && { state: previous } };
  return { id: newId("evt"), type, subject: id, merchantId, payload };
}

export function isIt({ merchantId, id }: Pick<RefundRow, "merchantId" | "id">) {
  return and(eq(refund.merchantId, merchantId), eq(refund.id, id));
}

/** A refund by its id as somebody sent it. */
interface Named {
  readonly merchantId: string;
  readonly id: string;
}

/** A refund, held until the transaction ends. Fault: `not_found`, also for another merchant's. */
export async function lockRefund(tx: Tx, { merchantId, id }: Named): Promise<RefundRow> {
  const [row] = isId("re", id)
    ? await tx.select().from(refund).where(isIt({ merchantId, id })).for("update")
    : [];
  if (!row) throw fault("not_found");
  return row;
}

/** Fault: `not_found`, also for another merchant's. */
export async function findRefund(db: Executor, { merchantId, id }: Named): Promise<RefundRow> {
  const [row] = isId("re", id) ? await db.select().from(refund).where(isIt({ merchantId, id })) : [];
  if (!row) throw fault("not_found");
  return row;
}

import { sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { errorFields } from "#kernel/log";
import { providerOrder } from "../tables.ts";
import { attendClearing } from "./clearing.ts";
import type { Looked, ProviderDesk } from "./desk.ts";
import { isIt, type OrderRow } from "./order.ts";
import { attendRefund } from "./refund.ts";

/** Seconds until the next try after so many failures in a row; the last for all that follow. Source: merchant-api §1.2. */
const BACKOFF_SECONDS = [5, 15, 45, 120, 300, 600];

/** Reads what an order's provider says now and moves what follows from it; told twice, done once. Throws when the
 *  provider cannot be asked: the order then keeps why, and is due again. */
export async function attend(desk: ProviderDesk, order: OrderRow): Promise<void> {
  const adapter = desk.providers.get(order.provider);
  if (!adapter) return;
  try {
    const look = order.kind === "clearing" ? attendClearing : attendRefund;
    await note(desk, order, { ...(await look(desk, adapter, order)), attempts: 0, failure: null });
  } catch (error) {
    const { code, message, error: name } = errorFields(error);
    const attempts = order.attempts + 1;
    const seconds = BACKOFF_SECONDS[Math.min(attempts, BACKOFF_SECONDS.length) - 1] ?? 0;
    const failure = String(code ?? message ?? name);
    await note(desk, order, { againMs: seconds * 1_000, attempts, failure });
    throw error;
  }
}

type Note = Looked & Pick<OrderRow, "attempts" | "failure">;

/** Who made it due meanwhile knows something that this look did not: it stays so. And who took it since, because this look
 *  took longer than it may, still has it. */
async function note({ db, clock }: ProviderDesk, order: OrderRow, found: Note): Promise<void> {
  const now = clock.now();
  const { againMs, attempts, failure } = found;
  const next = againMs === null ? null : new Date(now.getTime() + againMs).toISOString();
  const { dueAt, leasedUntil } = providerOrder;
  const isStill = (column: PgColumn, was: Date | null) =>
    sql`${column} IS NOT DISTINCT FROM ${was?.toISOString() ?? null}::timestamptz`;
  await db.pool
    .update(providerOrder)
    .set({
      dueAt: sql`CASE WHEN ${isStill(dueAt, order.dueAt)} THEN ${next}::timestamptz ELSE ${dueAt} END`,
      leasedUntil: sql`CASE WHEN ${isStill(leasedUntil, order.leasedUntil)} THEN NULL ELSE ${leasedUntil} END`,
      attempts,
      failure,
      updatedAt: now,
    })
    .where(isIt(order));
}

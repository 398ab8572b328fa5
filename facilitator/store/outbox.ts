import { sql } from "drizzle-orm";
import type { Id } from "#kernel/id";
import { insertMany } from "./bulk.ts";
import type { Database, Tx } from "./db.ts";
import { outbox } from "./tables.ts";

/** Something that became true, told outward. `payload` is JSON without amounts as numbers. */
export interface Fact {
  readonly id: Id<"evt">;
  readonly type: string;
  /** What it is about: a claim's id, a resource's id. */
  readonly subject: string;
  readonly merchantId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Writes facts in the transaction that made them true. */
export async function append(tx: Tx, facts: readonly Fact[]): Promise<void> {
  if (facts.length > 0) await tx.execute(insertMany(outbox, facts));
}

type FactRow = Omit<Fact, "merchantId"> & { merchant_id: string } & Record<string, unknown>;

/** Hands up to `limit` undelivered facts to `hear`, oldest first, and marks them in the same transaction: delivered
 *  at least once, so hearers are idempotent by fact id. What another deliverer has in hand is left to it, so two of them
 *  may tell facts of one subject out of order. Returns how many. */
export async function deliver(
  db: Database,
  limit: number,
  hear: (tx: Tx, facts: readonly Fact[]) => Promise<void>,
): Promise<number> {
  const [next] = await db.pool
    .select({ id: outbox.id })
    .from(outbox)
    .where(sql`${outbox.deliveredAt} IS NULL`)
    .limit(1);
  if (!next) return 0;
  return db.tx(async (tx) => {
    const { rows } = await tx.execute<FactRow>(sql`
      WITH next AS MATERIALIZED (
        SELECT id FROM outbox WHERE delivered_at IS NULL ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      UPDATE outbox SET delivered_at = now() FROM next WHERE outbox.id = next.id
      RETURNING outbox.id, type, subject, merchant_id, payload`);
    if (rows.length === 0) return 0;
    await hear(tx, rows.map(({ merchant_id: merchantId, ...fact }) => ({ ...fact, merchantId })).sort(byId));
    return rows.length;
  });
}

const byId = (a: Fact, b: Fact) => (a.id < b.id ? -1 : 1);

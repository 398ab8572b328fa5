import { and, eq, isNotNull, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Id } from "#kernel/id";
import { errorFields } from "#kernel/log";
import { insertMany } from "./bulk.ts";
import type { Database, Executor, Tx } from "./db.ts";
import { readRows } from "./decode.ts";
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

/** A fact as it is told: with its place in the order in which all were written. */
export interface ToldFact extends Fact {
  readonly sequence: number;
}

/** Writes facts in the transaction that made them true. */
export async function append(tx: Tx, facts: readonly Fact[]): Promise<void> {
  if (facts.length > 0) await tx.execute(insertMany(outbox, facts));
}

/** Somebody who is told of facts, in the transaction that marks them as delivered. */
type Hear = (tx: Tx, facts: readonly ToldFact[]) => Promise<void>;

/** A fact that a hearer failed on. It is told again later, or, when `isDead`, not before a person asks for it. */
export interface Failure {
  readonly fact: ToldFact;
  readonly error: unknown;
  readonly isDead: boolean;
}

const MAX_ATTEMPTS = 8;

const factColumns = {
  id: outbox.id,
  type: outbox.type,
  subject: outbox.subject,
  merchantId: outbox.merchantId,
  payload: outbox.payload,
};
const told = { ...factColumns, sequence: outbox.sequence };
const isWaiting = sql`${outbox.deliveredAt} IS NULL AND ${outbox.deadAt} IS NULL`;
const held = alias(outbox, "held");
/** Neither the fact itself nor another of its subject waits for its next try. The few that wait are read once: looked for
 *  fact by fact, they cost a walk through all that is undelivered whenever the planner believes that to be nothing. */
const isDue = sql`(${outbox.retryAt} IS NULL OR ${outbox.retryAt} <= now()) AND ${outbox.subject} NOT IN (
  SELECT ${held.subject} FROM ${outbox} AS held
  WHERE ${held.deliveredAt} IS NULL AND ${held.deadAt} IS NULL AND ${held.retryAt} > now())`;

/** Hands up to `limit` undelivered facts to `hear`, in the order in which they were written, and marks them in the same
 *  transaction: delivered at least once, so hearers are idempotent by fact id. When a hearer fails, each fact of the
 *  group is told on its own: what fails alone waits, longer each time, and the later facts of its subject behind it;
 *  after eight failures it is set aside (`dead`). What another deliverer has in hand is left to it, so two of them may
 *  tell facts of one subject out of order. Returns how many were delivered. Rejects when the database is away. */
export async function deliver(
  db: Database,
  limit: number,
  hear: Hear,
  onFailure: (failure: Failure) => void = () => {},
): Promise<number> {
  const [next] = await db.pool.select({ id: outbox.id }).from(outbox).where(and(isWaiting, isDue)).limit(1);
  if (!next) return 0;
  const group: ToldFact[] = [];
  try {
    return await db.tx(async (tx) => {
      const due = tx
        .select(told)
        .from(outbox)
        .where(and(isWaiting, isDue))
        .orderBy(outbox.sequence)
        .limit(limit)
        .for("update", { of: outbox, skipLocked: true });
      const rows = await readRows(tx, told, due);
      group.push(...rows);
      await tell(tx, rows, hear);
      return rows.length;
    });
  } catch (error) {
    if (group.length === 0) throw error;
    return await deliverEach(db, group, hear, onFailure);
  }
}

async function tell(tx: Tx, facts: readonly ToldFact[], hear: Hear): Promise<void> {
  if (facts.length === 0) return;
  await hear(tx, facts);
  await tx
    .update(outbox)
    .set({ deliveredAt: sql`now()`, retryAt: null })
    .where(sql`${outbox.id} = ANY(${sql.param(facts.map(({ id }) => id))})`);
}

async function deliverEach(
  db: Database,
  group: readonly ToldFact[],
  hear: Hear,
  onFailure: (failure: Failure) => void,
): Promise<number> {
  const stuck = new Set<string>();
  let delivered = 0;
  for (const fact of group) {
    if (stuck.has(fact.subject)) continue;
    try {
      delivered += await deliverAlone(db, fact, hear);
    } catch (error) {
      stuck.add(fact.subject);
      onFailure({ fact, error, isDead: await noteFailure(db, fact, error) });
    }
  }
  return delivered;
}

function deliverAlone(db: Database, { id }: Fact, hear: Hear): Promise<number> {
  return db.tx(async (tx) => {
    const rows = await tx
      .select(told)
      .from(outbox)
      .where(and(eq(outbox.id, id), isWaiting))
      .for("update", { skipLocked: true });
    await tell(tx, rows, hear);
    return rows.length;
  });
}

/** Whether the fact is dead now. The pause before its next try doubles, from one second on. */
async function noteFailure({ pool }: Database, { id }: Fact, error: unknown): Promise<boolean> {
  const { error: name, code, message } = errorFields(error);
  const [row] = await pool
    .update(outbox)
    .set({
      attempts: sql`${outbox.attempts} + 1`,
      lastError: [name, code, message].filter(Boolean).join(" "),
      retryAt: sql`now() + make_interval(secs => 2 ^ ${outbox.attempts})`,
      deadAt: sql`CASE WHEN ${outbox.attempts} + 1 >= ${MAX_ATTEMPTS} THEN now() END`,
    })
    .where(and(eq(outbox.id, id), isWaiting))
    .returning({ deadAt: outbox.deadAt });
  return row?.deadAt != null;
}

/** Whether something of a merchant's is to be told now; what waits for its next try is not. */
export const isUntold = (merchantId: string): SQL =>
  sql`EXISTS (SELECT FROM ${outbox} WHERE ${isWaiting} AND ${outbox.retryAt} IS NULL AND ${outbox.merchantId} = ${merchantId})`;

/** A fact that was set aside. */
export interface DeadFact extends Fact {
  readonly attempts: number;
  readonly lastError: string | null;
  readonly deadAt: Date | null;
}

/** Facts that were set aside, in the order in which they were written. */
export function dead(db: Executor): Promise<readonly DeadFact[]> {
  const { attempts, lastError, deadAt } = outbox;
  return db
    .select({ ...factColumns, attempts, lastError, deadAt })
    .from(outbox)
    .where(isNotNull(outbox.deadAt))
    .orderBy(outbox.sequence);
}

/** Has a fact that was set aside told again, with all its tries before it; false when none has this id. */
export async function redeliver(db: Executor, id: string): Promise<boolean> {
  const revived = await db
    .update(outbox)
    .set({ attempts: 0, retryAt: null, deadAt: null })
    .where(and(sql`${outbox.id} = ${id}`, isNotNull(outbox.deadAt)))
    .returning({ id: outbox.id });
  return revived.length === 1;
}

/** What is not delivered: how many facts, how old the oldest is, and how many are set aside. */
export async function backlog(
  db: Executor,
): Promise<{ readonly undelivered: number; readonly oldestSeconds: number; readonly dead: number }> {
  const { rows } = await db.execute<{ undelivered: string; oldest: string | null; dead: string }>(sql`
    SELECT count(*) AS undelivered, extract(epoch FROM now() - min(occurred_at)) AS oldest,
      (SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL) AS dead
    FROM outbox WHERE delivered_at IS NULL AND dead_at IS NULL`);
  const [found] = rows;
  return {
    undelivered: Number(found?.undelivered ?? 0),
    oldestSeconds: Number(found?.oldest ?? 0),
    dead: Number(found?.dead ?? 0),
  };
}

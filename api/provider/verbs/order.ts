import { and, asc, eq, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import type { Database, Executor, outbox, Tx } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { refund } from "../../refund/tables.ts";
import { providerOrder } from "../tables.ts";

export type OrderRow = typeof providerOrder.$inferSelect;
/** What names an order. */
export type OrderName = Pick<OrderRow, "merchantId" | "id">;

export function isIt({ merchantId, id }: OrderName) {
  return and(eq(providerOrder.merchantId, merchantId), eq(providerOrder.id, id));
}

/** Makes an order due that a provider tells of. Null when there is none by this reference. */
export async function makeDueByReference(
  db: Executor,
  {
    provider,
    reference,
    now,
  }: Pick<OrderRow, "provider"> & { readonly reference: string; readonly now: Date },
): Promise<OrderName | null> {
  const [row] = await db
    .update(providerOrder)
    .set({ dueAt: now })
    .where(and(eq(providerOrder.provider, provider), eq(providerOrder.reference, reference)))
    .returning({ merchantId: providerOrder.merchantId, id: providerOrder.id });
  return row ?? null;
}

/** Longer than a provider may take to answer all that one look asks it. */
const LEASE_MS = 60_000;

/** Takes orders that are due, each for one caller: who does not come back within the lease has lost them. */
export async function takeDue(
  { pool }: Pick<Database, "pool">,
  { now, limit, providers }: Hearing & { readonly limit: number },
): Promise<readonly OrderRow[]> {
  const due = pool
    .select({ merchantId: providerOrder.merchantId, id: providerOrder.id })
    .from(providerOrder)
    .where(and(isFree(now), inArray(providerOrder.provider, [...providers])))
    .orderBy(asc(providerOrder.dueAt))
    .limit(limit)
    .for("update", { skipLocked: true });
  return take(pool, inArray(sql`(${providerOrder.merchantId}, ${providerOrder.id})`, due), now);
}

/** Takes one order that is due. Null while somebody looks at it: it stays due, and is looked at afterwards. */
export async function takeOne(
  { pool }: Pick<Database, "pool">,
  name: OrderName,
  now: Date,
): Promise<OrderRow | null> {
  const [order] = await take(pool, and(isIt(name), isFree(now)), now);
  return order ?? null;
}

/** Due, and nobody looks: of two looks at a time, the later one could tell the provider what the earlier one told it. */
function isFree(now: Date) {
  const { dueAt, leasedUntil } = providerOrder;
  return and(lte(dueAt, now), or(isNull(leasedUntil), lte(leasedUntil, now)));
}

async function take(db: Executor, which: SQL | undefined, now: Date): Promise<readonly OrderRow[]> {
  const leasedUntil = new Date(now.getTime() + LEASE_MS);
  return db.update(providerOrder).set({ dueAt: leasedUntil, leasedUntil }).where(which).returning();
}

/** Facts after which a provider is asked, or told, something. */
const ofPayments: ReadonlySet<string> = new Set([
  "payment.clearing",
  "payment.reopened",
  "payment.funds_received",
  "payment.expired",
  "payment.cancelled",
]);

/** Makes orders of what was confirmed for a provider and of what is refunded there, and those due that facts are about.
 *  Facts are hints: they only say where to look. */
export async function hearOf(tx: Tx, facts: readonly outbox.Fact[], hearing: Hearing): Promise<void> {
  if (hearing.providers.length === 0) return;
  await makeDue(
    tx,
    facts.filter(({ type }) => ofPayments.has(type)),
    clearings,
    hearing,
  );
  await makeDue(
    tx,
    facts.filter(({ type }) => type === "refund.created"),
    refunds,
    hearing,
  );
}

interface Hearing {
  readonly providers: readonly string[];
  readonly now: Date;
}
interface Source {
  readonly kind: OrderRow["kind"];
  readonly table: typeof clearing | typeof refund;
}
const clearings: Source = { kind: "clearing", table: clearing };
const refunds: Source = { kind: "refund", table: refund };

async function makeDue(
  tx: Tx,
  facts: readonly outbox.Fact[],
  { kind, table }: Source,
  { providers, now }: Hearing,
): Promise<void> {
  if (facts.length === 0) return;
  const merchants = sql.param(facts.map(({ merchantId }) => merchantId));
  const ids = sql.param(facts.map(({ subject }) => subject));
  const at = sql`${now.toISOString()}::timestamptz`;
  await tx.execute(sql`
    INSERT INTO provider_order (merchant_id, id, provider, kind, due_at, created_at, updated_at)
    SELECT DISTINCT merchant_id, id, provider, ${kind}, ${at}, ${at}, ${at}
    FROM ${table} JOIN unnest(${merchants}::text[], ${ids}::text[]) AS told(merchant_id, id) USING (merchant_id, id)
    WHERE provider = ANY(${sql.param([...providers])}::text[])
    ON CONFLICT (merchant_id, id) DO UPDATE SET due_at = EXCLUDED.due_at, attempts = 0`);
}

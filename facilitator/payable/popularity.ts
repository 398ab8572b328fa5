import { sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { type Database, type Tx, toArray, toBytesArray } from "#store";
import { restand } from "./standing.ts";
import { countedFact, ownWallet, payable, payablePayer, payableTrust } from "./tables.ts";

/** A payment that was credited, or one whose credit a reorg took back. */
export interface CountedPayment {
  readonly factId: string;
  readonly payableId: string;
  readonly payer: Address;
  readonly by: 1 | -1;
}

const PAYER_DAYS = 90;
/** Facts are told again within moments, or by an operator within days. */
const FACT_DAYS = 30;
const FORGET_AT_ONCE = 5_000;

/** Counts payments for the index, each fact once however often it is told. A wallet whose only payment was taken back
 *  stays counted: a reorg is not its doing. */
export async function countPayments(tx: Tx, payments: readonly CountedPayment[]): Promise<void> {
  const fresh = await toldFirst(tx, payments);
  if (fresh.length === 0) return;
  const ids = [...new Set(fresh.map(({ payableId }) => payableId))].sort();
  const payers = await notePayers(
    tx,
    fresh.filter(({ by }) => by === 1),
  );
  const settled = ids.map((id) =>
    fresh.reduce((sum, { payableId, by }) => (payableId === id ? sum + by : sum), 0),
  );
  await tx.execute(sql`
    INSERT INTO ${payableTrust} AS t (payable_id, settled_count, distinct_payers)
    SELECT * FROM unnest(${toArray(ids, "text")}, ${toArray(settled, "int")},
      ${toArray(
        ids.map((id) => payers.get(id) ?? 0),
        "int",
      )})
    ON CONFLICT (payable_id) DO UPDATE SET settled_count = t.settled_count + excluded.settled_count,
      distinct_payers = t.distinct_payers + excluded.distinct_payers`);
  await restand(tx, ids);
}

async function toldFirst(tx: Tx, payments: readonly CountedPayment[]): Promise<readonly CountedPayment[]> {
  if (payments.length === 0) return [];
  const ids = toArray(
    payments.map(({ factId }) => factId),
    "text",
  );
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO ${countedFact} (id, counted_at) SELECT id, now() FROM unnest(${ids}) AS told(id)
    ON CONFLICT DO NOTHING RETURNING id`);
  const first = new Set(rows.map(({ id }) => id));
  return payments.filter(({ factId }) => first.has(factId));
}

/** How many wallets are new to each payable, those of its own merchant left out. A row is touched once a day at most. */
async function notePayers(tx: Tx, paid: readonly CountedPayment[]): Promise<ReadonlyMap<string, number>> {
  if (paid.length === 0) return new Map();
  const { rows } = await tx.execute<{ payable_id: string; is_new: boolean }>(sql`
    INSERT INTO ${payablePayer} AS p (payable_id, payer, last_paid_at)
    SELECT DISTINCT id, payer, now() FROM unnest(${toArray(
      paid.map(({ payableId }) => payableId),
      "text",
    )},
      ${toBytesArray(paid.map(({ payer }) => payer))}) AS paid(id, payer)
    WHERE NOT EXISTS (SELECT FROM ${ownWallet} AS own JOIN ${payable} AS sold ON sold.merchant_id = own.merchant_id
      WHERE sold.id = paid.id AND own.wallet = paid.payer)
    ORDER BY id, payer
    ON CONFLICT (payable_id, payer) DO UPDATE SET last_paid_at = excluded.last_paid_at
      WHERE p.last_paid_at < excluded.last_paid_at - interval '1 day'
    RETURNING payable_id, (xmax = 0) AS is_new`);
  const count = new Map<string, number>();
  for (const { payable_id: id, is_new } of rows) if (is_new) count.set(id, (count.get(id) ?? 0) + 1);
  return count;
}

/** A wallet that a merchant has named as its own. */
export interface OwnWallet {
  readonly merchantId: string;
  readonly wallet: Address;
}

/** Counts these no more among the wallets that pay their merchants, for good. Source: agents.md §6.5. */
export async function noteOwnWallets(tx: Tx, wallets: readonly OwnWallet[]): Promise<void> {
  for (const { merchantId, wallet } of wallets) {
    await tx.insert(ownWallet).values({ merchantId, wallet }).onConflictDoNothing();
    const { rows } = await tx.execute<{ id: string }>(sql`
      DELETE FROM ${payablePayer} AS p USING ${payable} AS sold
      WHERE p.payer = ${sql.param(wallet, payablePayer.payer)} AND sold.id = p.payable_id AND sold.merchant_id = ${merchantId}
      RETURNING p.payable_id AS id`);
    await countLess(tx, new Map(rows.map(({ id }) => [id, 1])));
  }
}

/** Drops wallets that have not paid for 90 days, and the marks of facts that nobody will tell again. */
export async function forgetOldPayers(db: Database): Promise<void> {
  let dropped: number;
  do {
    dropped = await db.tx(async (tx) => {
      const { rows } = await tx.execute<{ payable_id: string; payers: number }>(sql`
        WITH gone AS (DELETE FROM ${payablePayer} WHERE (payable_id, payer) IN
          (SELECT payable_id, payer FROM ${payablePayer} WHERE last_paid_at < now() - ${`${PAYER_DAYS} days`}::interval
           ORDER BY last_paid_at LIMIT ${FORGET_AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING payable_id)
        SELECT payable_id, count(*)::int AS payers FROM gone GROUP BY payable_id ORDER BY payable_id`);
      await countLess(tx, new Map(rows.map(({ payable_id: id, payers }) => [id, payers])));
      return rows.reduce((sum, { payers }) => sum + payers, 0);
    });
  } while (dropped === FORGET_AT_ONCE);
  await db.pool.execute(
    sql`DELETE FROM ${countedFact} WHERE counted_at < now() - ${`${FACT_DAYS} days`}::interval`,
  );
}

/** Takes so many wallets off what was counted of each payable. */
async function countLess(tx: Tx, gone: ReadonlyMap<string, number>): Promise<void> {
  if (gone.size === 0) return;
  const ids = [...gone.keys()].sort();
  const payers = ids.map((id) => gone.get(id) ?? 0);
  await tx.execute(sql`UPDATE ${payableTrust} AS t SET distinct_payers = greatest(0, t.distinct_payers - gone.payers)
    FROM unnest(${toArray(ids, "text")}, ${toArray(payers, "int")}) AS gone(id, payers) WHERE t.payable_id = gone.id`);
  await restand(tx, ids);
}

import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { readRows, toBytesArray } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { isThisHour } from "../budget/burn.ts";
import { type SentClaim, sentColumns } from "../claim/claim-parts.ts";
import { claim } from "../claim/tables.ts";
import type { Engine, Settings } from "../engine.ts";

const RESERVED_SECONDS = 5;

/** What waits on a chain. */
export interface Queue {
  /** Payments, and what leaves the treasury; a backlog is counted no further than that it is one. */
  readonly length: number;
  /** By the database's clock. */
  readonly oldestMs: number;
  /** Sweeps: they fill the room that payments leave. */
  readonly sweeps: number;
  readonly oldestSweepMs: number;
  /** Whether money that we owe outward waits for the treasury's signature, and may have it: what seems to have left without
   *  one, before the books were put back, may have it without an approval. */
  readonly hasOrders: boolean;
}

const isFree = sql`claim.state = 'claimed' AND (claim.taken_until IS NULL OR claim.taken_until < now())`;

/** What waits to be sent on a chain: claimed, not reserved, and in no transaction that may still land. A queue is mostly
 *  empty and so do the statistics have it, also when it is not: `OFFSET 0` keeps the items a look-up per claim, where a
 *  join planned for one claim would go through all open items for each. */
const waiting = (chainId: number) => sql`
  claim.chain_id = ${chainId} AND ${isFree}
  AND NOT EXISTS (SELECT 1 FROM slot_item WHERE slot_item.claim_key = claim.claim_key AND slot_item.open OFFSET 0)`;

/** Counted as far as it makes a difference, and no further: where thousands wait the sender looks as often as ever. */
export async function queueOf(
  { loopDb, settings }: Engine,
  { chainId, batchLimit }: Pick<ChainRow, "chainId" | "batchLimit">,
): Promise<Queue> {
  const most = busyAbove(batchLimit, settings) + 1;
  const { rows } = await loopDb.pool.execute<{
    length: string;
    oldest: string | null;
    sweeps: string;
    oldest_sweep: string | null;
    has_orders: boolean;
  }>(sql`
    SELECT payments.*, sweeps.*,
      EXISTS (SELECT 1 FROM outgoing WHERE chain_id = ${chainId} AND claim_key IS NULL AND cancelled_at IS NULL
        AND (NOT needs_approval OR approved_at IS NOT NULL OR EXISTS (
          SELECT 1 FROM chain_transfer AS gone WHERE gone.chain_id = ${chainId} AND gone.canonical AND gone.claimed_kind IS NULL
            AND gone.token = outgoing.token AND gone.recipient = outgoing.recipient AND gone.amount = outgoing.amount)))
        AS has_orders
    FROM (SELECT count(*) AS length, extract(epoch FROM now() - min(created_at)) * 1000 AS oldest FROM (
        SELECT created_at FROM claim WHERE ${waiting(chainId)} AND kind <> 'sweep'
        ORDER BY created_at LIMIT ${most}) AS first) AS payments,
      (SELECT count(*) AS sweeps, extract(epoch FROM now() - min(created_at)) * 1000 AS oldest_sweep FROM (
        SELECT created_at FROM claim WHERE ${waiting(chainId)} AND kind = 'sweep'
        ORDER BY created_at LIMIT ${most}) AS first) AS sweeps`);
  const [row] = rows;
  return {
    length: Number(row?.length ?? 0),
    oldestMs: Number(row?.oldest ?? 0),
    sweeps: Number(row?.sweeps ?? 0),
    oldestSweepMs: Number(row?.oldest_sweep ?? 0),
    hasOrders: row?.has_orders ?? false,
  };
}

/** So many payments that wait are a backlog: then a lane may have more transactions under way. */
export const busyAbove = (batchLimit: number, { window }: Pick<Settings, "window">) =>
  batchLimit * window.calm;

/** Of a payer whose payments have failed within the hour, so many go in one batch: more could be wasted together. */
const MOST_OF_FAILED_PAYER = 4;

/** Up to `limit` claims for one batch: merchants in turn, and of each merchant its payers in turn, so that nobody's flood
 *  starves another. */
export async function nextClaims(
  engine: Engine,
  chainId: number,
  limit: number,
  which: "payments" | "sweeps",
): Promise<readonly SentClaim[]> {
  if (limit <= 0) return [];
  const ofKind = which === "sweeps" ? sql`claim.kind = 'sweep'` : sql`claim.kind <> 'sweep'`;
  const chosen = sql`
    SELECT claim_key FROM (
      SELECT claim_key, merchant_id, payer, created_at,
        row_number() OVER (PARTITION BY merchant_id, payer ORDER BY created_at, claim_key) AS turn,
        row_number() OVER (PARTITION BY payer ORDER BY created_at, claim_key) AS of_payer
      FROM claim WHERE ${waiting(chainId)} AND ${ofKind}) AS item
    WHERE of_payer <= ${MOST_OF_FAILED_PAYER} OR NOT EXISTS (
      SELECT 1 FROM payer_gas WHERE payer_gas.payer = item.payer AND payer_gas.chain_id = ${chainId}
        AND failures > 0 AND ${isThisHour("since")} OFFSET 0)
    ORDER BY row_number() OVER (PARTITION BY merchant_id ORDER BY turn, created_at, claim_key), created_at, claim_key LIMIT ${limit}`;
  // By key: what is sorted above are thousands now and then, and narrow.
  const db = engine.loopDb.pool;
  const claims = db
    .select(sentColumns)
    .from(claim)
    .where(sql`${claim.claimKey} = ANY(ARRAY(${chosen}))`)
    .orderBy(claim.createdAt, claim.claimKey);
  return readRows(db, sentColumns, claims);
}

/** Keeps other processes from working for the same claims; returns those that none of them had reserved. A reservation
 *  lapses by itself; what keeps a claim out of two transactions is the open-item index. */
export async function reserve(engine: Engine, claims: readonly SentClaim[]): Promise<readonly SentClaim[]> {
  if (claims.length === 0) return [];
  const keys = toBytesArray(claims.map(({ claimKey }) => claimKey));
  const { rows } = await engine.loopDb.pool.execute<{ claim_key: Hash }>(sql`
    WITH free AS MATERIALIZED (
      SELECT claim_key FROM claim WHERE claim_key = ANY(${keys}) AND ${isFree} FOR UPDATE SKIP LOCKED)
    UPDATE claim SET taken_until = now() + make_interval(secs => ${RESERVED_SECONDS}) FROM free
    WHERE claim.claim_key = free.claim_key RETURNING claim.claim_key`);
  const reserved = new Set(rows.map(({ claim_key }) => claim_key));
  return claims.filter(({ claimKey }) => reserved.has(claimKey));
}

/** What only time can cure is looked at again after so long. */
export const HOLD_SECONDS = 2;

/** Gives claims back, reserved or not: nothing was signed for them. They may be taken again after so long. */
export async function giveBack(engine: Engine, keys: readonly Hash[], waitSeconds = 0): Promise<void> {
  if (keys.length === 0) return;
  await engine.loopDb.pool.execute(sql`
    UPDATE claim SET taken_until = now() + make_interval(secs => ${waitSeconds})
    WHERE claim_key = ANY(${toBytesArray(keys)}) AND state = 'claimed'`);
}

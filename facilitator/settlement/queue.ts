import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { toBytesArray } from "#store";
import { type Claim, findClaims } from "./claim.ts";
import type { Engine } from "./engine.ts";

const RESERVED_SECONDS = 5;

export interface Queue {
  /** Payments, and what leaves the treasury. */
  readonly length: number;
  /** By the database's clock. */
  readonly oldestMs: number;
  /** Sweeps: they fill the room that payments leave. */
  readonly sweeps: number;
  readonly oldestSweepMs: number;
}

/** What waits to be sent on a chain: claimed, not reserved, and in no transaction that may still land. */
const waiting = (chainId: number) => sql`
  claim.chain_id = ${chainId} AND claim.state = 'claimed' AND (claim.taken_until IS NULL OR claim.taken_until < now())
  AND NOT EXISTS (SELECT 1 FROM slot_item WHERE slot_item.claim_key = claim.claim_key AND slot_item.open)`;

export async function queueOf(engine: Engine, chainId: number): Promise<Queue> {
  const { rows } = await engine.loopDb.pool.execute<{
    sweeps: boolean;
    length: string;
    oldest: string;
  }>(sql`
    SELECT claim.kind = 'sweep' AS sweeps, count(*) AS length,
      extract(epoch FROM now() - min(claim.created_at)) * 1000 AS oldest
    FROM claim WHERE ${waiting(chainId)} GROUP BY 1`);
  const of = (sweeps: boolean) => rows.find((row) => row.sweeps === sweeps);
  return {
    length: Number(of(false)?.length ?? 0),
    oldestMs: Number(of(false)?.oldest ?? 0),
    sweeps: Number(of(true)?.length ?? 0),
    oldestSweepMs: Number(of(true)?.oldest ?? 0),
  };
}

/** Reserves up to `limit` claims for one batch, merchants in turn, so that one flood does not starve another merchant.
 *  The reservation lapses by itself; what keeps a claim out of two transactions is the open-item index. */
export async function reserve(
  engine: Engine,
  chainId: number,
  limit: number,
  which: "payments" | "sweeps",
): Promise<readonly Claim[]> {
  if (limit <= 0) return [];
  const ofKind = which === "sweeps" ? sql`claim.kind = 'sweep'` : sql`claim.kind <> 'sweep'`;
  const { rows } = await engine.loopDb.pool.execute<{ claim_key: string }>(sql`
    WITH turn AS (
      SELECT claim_key, row_number() OVER (PARTITION BY merchant_id ORDER BY created_at, claim_key) AS turn
      FROM claim WHERE ${waiting(chainId)} AND ${ofKind}),
    picked AS (
      SELECT claim.claim_key FROM claim JOIN turn ON turn.claim_key = claim.claim_key
      WHERE claim.state = 'claimed' AND (claim.taken_until IS NULL OR claim.taken_until < now())
      ORDER BY turn.turn, claim.created_at LIMIT ${limit}
      FOR UPDATE OF claim SKIP LOCKED)
    UPDATE claim SET taken_until = now() + make_interval(secs => ${RESERVED_SECONDS})
    FROM picked WHERE claim.claim_key = picked.claim_key
    RETURNING '0x' || encode(claim.claim_key, 'hex') AS claim_key`);
  const claims = await findClaims(
    engine.loopDb.pool,
    rows.map(({ claim_key }) => claim_key as Hash),
  );
  return [...claims].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** Gives reserved claims back at once: nothing was signed for them. */
export async function giveBack(engine: Engine, keys: readonly Hash[], waitSeconds = 0): Promise<void> {
  if (keys.length === 0) return;
  await engine.loopDb.pool.execute(sql`
    UPDATE claim SET taken_until = now() + make_interval(secs => ${waitSeconds})
    WHERE claim_key = ANY(${toBytesArray(keys)}) AND state = 'claimed'`);
}

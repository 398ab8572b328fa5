import { and, eq, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { type Tx, toBytesArray } from "#store";
import type { Engine } from "./engine.ts";
import type { AnswerId } from "./places.ts";
import type { SettleAnswer } from "./request.ts";
import { claim, settleAnswer } from "./tables.ts";

export interface GrantRequest {
  readonly claimKey: Hash;
  readonly requestId: string;
  /** What the caller will be told if the grant is its; stored under its ids. */
  readonly answer: SettleAnswer;
  readonly answerIds: readonly AnswerId[];
}

/** The single success grant: of all callers of a claim, on all processes, at most one gets true, decided under the row's lock.
 *  The answer is stored under the caller's ids in the same transaction (settlement.md S9). */
export function granter(engine: Engine): (request: GrantRequest) => Promise<boolean> {
  return coalesce({ maxInFlight: 2, maxItems: 250 }, async (requests: readonly GrantRequest[]) => {
    const won = await engine.db.tx(async (tx) => {
      const granted = await grantAll(tx, requests);
      await engine.checkpoint("before-grant");
      return granted;
    });
    await engine.checkpoint("granted");
    return requests.map((request) => won.has(request));
  });
}

async function grantAll(tx: Tx, requests: readonly GrantRequest[]): Promise<ReadonlySet<GrantRequest>> {
  const first = [...new Map([...requests].reverse().map((request) => [request.claimKey, request])).values()];
  const keys = first.map(({ claimKey }) => claimKey).sort();
  // Locked in key order: two groups with the same claims must not wait for each other. What is read under the lock
  // holds until the commit.
  const locked = await tx
    .select({ claimKey: claim.claimKey, creditState: claim.creditState, grantedAt: claim.grantedAt })
    .from(claim)
    .where(sql`${claim.claimKey} = ANY(${toBytesArray(keys)})`)
    .orderBy(claim.claimKey)
    .for("update");
  const free = locked.filter(({ creditState, grantedAt }) => creditState !== "none" && grantedAt === null);
  const won = new Set(free.map(({ claimKey }) => claimKey));
  const winners = first.filter(({ claimKey }) => won.has(claimKey));
  if (winners.length > 0) await tx.execute(grantTo(winners));
  const answers = winners.flatMap(({ claimKey, answer, answerIds }) =>
    answerIds.map((id) => ({ ...id, claimKey, body: answer })),
  );
  for (const row of answers) {
    await tx
      .insert(settleAnswer)
      .values(row)
      .onConflictDoUpdate({
        target: [settleAnswer.scope, settleAnswer.id],
        set: { body: row.body },
        setWhere: sql`${settleAnswer.body} IS NULL AND ${settleAnswer.payloadHash} = excluded.payload_hash`,
      });
  }
  return new Set(winners);
}

/** One statement for many claims: each row takes the request that stands beside its key. */
function grantTo(requests: readonly GrantRequest[]) {
  const keys = toBytesArray(requests.map(({ claimKey }) => claimKey));
  const ids = sql`${sql.param(requests.map(({ requestId }) => requestId))}::text[]`;
  return sql`
    UPDATE claim SET success_granted_to = pair.id, success_granted_at = now() FROM unnest(${keys}, ${ids}) AS pair(key, id)
    WHERE claim.claim_key = ANY(${keys}) AND claim.claim_key = pair.key`;
}

/** Takes a grant back whose answer never left: only by the request that holds it. */
export async function releaseGrant(engine: Engine, paymentId: string, requestId: string): Promise<void> {
  await engine.db.pool
    .update(claim)
    .set({ grantedTo: null, grantedAt: null })
    .where(and(eq(claim.id, paymentId as `stl_${string}`), eq(claim.grantedTo, requestId)));
}

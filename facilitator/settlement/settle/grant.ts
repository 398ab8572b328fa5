import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { insertMany, outageOf, type Tx, toArray, toBytesArray } from "#store";
import { claim } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import type { SettleAnswer } from "../verify/request.ts";
import type { AnswerId } from "./places.ts";
import { settleAnswer } from "./tables.ts";

export interface GrantRequest {
  readonly claimKey: Hash;
  readonly requestId: string;
  /** What the caller will be told if the grant is its; stored under its ids. */
  readonly answer: SettleAnswer;
  readonly answerIds: readonly AnswerId[];
}

/** The single success grant: of all callers of a claim, on all processes, at most one gets true, by compare-and-set.
 *  The answer is stored under the caller's ids in the same transaction (settlement.md S9). */
export function granter(engine: Engine): (request: GrantRequest) => Promise<boolean> {
  return coalesce({ maxInFlight: 2, maxItems: 250 }, async (requests: readonly GrantRequest[]) => {
    const grant = async () => {
      const granted = await engine.db.tx(async (tx) => {
        const winners = await grantAll(tx, requests);
        await engine.checkpoint("before-grant");
        return winners;
      });
      await engine.checkpoint("granted");
      return granted;
    };
    // Whether it was committed only the rows know: who has the grant by then is told so by a second try.
    const won = await grant().catch((error: unknown) => {
      if (outageOf(error)?.code !== "commit_unknown") throw error;
      return grant();
    });
    return requests.map((request) => won.has(request));
  });
}

async function grantAll(tx: Tx, requests: readonly GrantRequest[]): Promise<ReadonlySet<GrantRequest>> {
  const first = [...new Map([...requests].reverse().map((request) => [request.claimKey, request])).values()];
  const { rows } = await tx.execute<{ claim_key: Hash }>(grantTo(first));
  const won = new Set(rows.map(({ claim_key }) => claim_key));
  const winners = first.filter(({ claimKey }) => won.has(claimKey));
  const answers = winners.flatMap(({ claimKey, answer, answerIds }) =>
    answerIds.map((id) => ({ ...id, claimKey, body: answer })),
  );
  if (answers.length > 0) await storeAnswers(tx, answers);
  return new Set(winners);
}

/** The first answer under an id stays. In one order everywhere: two groups with the same ids must not wait for each
 *  other. */
async function storeAnswers(tx: Tx, answers: readonly (typeof settleAnswer.$inferInsert)[]): Promise<void> {
  const byName = new Map([...answers].reverse().map((row) => [`${row.scope}\n${row.id}`, row]));
  const rows = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  await tx.execute(sql`
    ${insertMany(settleAnswer, rows)} ON CONFLICT (scope, id) DO UPDATE SET body = excluded.body
    WHERE settle_answer.body IS NULL AND settle_answer.payload_hash = excluded.payload_hash`);
}

/** One statement for many claims: each row takes the request that stands beside its key, if it is credited and no other
 *  has it; to give it to the same one again changes nothing. Locked in key order first: two groups with the same claims must not wait for each other. */
function grantTo(requests: readonly GrantRequest[]): SQL {
  const keys = toBytesArray(requests.map(({ claimKey }) => claimKey));
  const ids = toArray(
    requests.map(({ requestId }) => requestId),
    "text",
  );
  return sql`
    WITH asked AS MATERIALIZED (
      SELECT claim.claim_key, pair.id,
        claim.credit_state <> 'none' AND (claim.success_granted_at IS NULL OR claim.success_granted_to = pair.id) AS is_free
      FROM unnest(${keys}, ${ids}) AS pair(key, id) JOIN claim ON claim.claim_key = pair.key
      ORDER BY claim.claim_key FOR UPDATE OF claim)
    UPDATE claim SET success_granted_to = asked.id, success_granted_at = coalesce(success_granted_at, now())
    FROM asked WHERE claim.claim_key = asked.claim_key AND asked.is_free
    RETURNING claim.claim_key`;
}

/** Takes a grant back whose answer never left: only by the request that holds it. */
export async function releaseGrant(engine: Engine, paymentId: string, requestId: string): Promise<void> {
  await engine.db.pool
    .update(claim)
    .set({ grantedTo: null, grantedAt: null })
    .where(and(eq(claim.id, paymentId as `stl_${string}`), eq(claim.grantedTo, requestId)));
}

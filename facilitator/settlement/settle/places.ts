import { and, eq, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { decodeRows, type Executor, insertMany, type Tx, toArray } from "#store";
import { settleAnswer } from "./tables.ts";

/** An id under which a caller will ask for its answer again. */
export interface AnswerId {
  readonly scope: string;
  readonly id: string;
  readonly payloadHash: Hash;
}
interface Asking {
  readonly row: { readonly claimKey: Hash };
  readonly answerIds: readonly AnswerId[];
}

const { scope, id, payloadHash, claimKey, body } = settleAnswer;
const placeColumns = { scope, id, payloadHash, claimKey };
type Place = Pick<typeof settleAnswer.$inferSelect, keyof typeof placeColumns>;
type KeptAnswer = Pick<typeof settleAnswer.$inferSelect, "scope" | "id" | "payloadHash" | "body">;

const nameOf = ({ scope, id }: Name) => `${scope}\n${id}`;

/** Keeps a place for every answer that will be asked for by id, before anything is claimed: two payloads under one id
 *  must not both be charged, also when they come at the same time. Refused are those whose id stands for another
 *  payload; `taken` are the places that are new. */
export async function takePlaces<R extends Asking>(
  tx: Tx,
  requests: readonly R[],
): Promise<{ readonly refused: ReadonlySet<R>; readonly taken: readonly Place[] }> {
  const wanted = requests.flatMap(({ answerIds, row: { claimKey } }) =>
    answerIds.map((answer) => ({ ...answer, claimKey })),
  );
  if (wanted.length === 0) return { refused: new Set(), taken: [] };
  // In one order everywhere: two groups with the same ids must not wait for each other.
  wanted.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const { rows } = await tx.execute<Record<string, unknown>>(sql`
    ${insertMany(settleAnswer, wanted)} ON CONFLICT DO NOTHING RETURNING scope, id, payload_hash, claim_key`);
  const taken = decodeRows(placeColumns, rows);
  const stored = [...taken, ...(await findAnswers(tx, without(wanted, taken)))];
  const payloadOf = new Map(stored.map((place) => [nameOf(place), place.payloadHash]));
  const isForeign = (answer: AnswerId) => payloadOf.get(nameOf(answer)) !== answer.payloadHash;
  return { refused: new Set(requests.filter(({ answerIds }) => answerIds.some(isForeign))), taken };
}

type Name = Pick<AnswerId, "scope" | "id">;

function without<N extends Name>(names: readonly N[], others: readonly Name[]): readonly N[] {
  const known = new Set(others.map(nameOf));
  return names.filter((name) => !known.has(nameOf(name)));
}

/** What is kept under these ids. */
async function findAnswers(db: Executor, names: readonly Name[]): Promise<readonly KeptAnswer[]> {
  if (names.length === 0) return [];
  const [scopes, ids] = [names.map((name) => name.scope), names.map((name) => name.id)];
  return db
    .select({ scope, id, payloadHash, body })
    .from(settleAnswer)
    .where(
      sql`(${scope}, ${id}) IN (SELECT * FROM unnest(${toArray(scopes, "text")}, ${toArray(ids, "text")}))`,
    );
}

/** One indexed read for many callers who ask again. */
export function answerReader(db: Executor): (names: readonly Name[]) => Promise<readonly KeptAnswer[]> {
  return coalesce({ maxInFlight: 2, maxItems: 250 }, async (asked: readonly (readonly Name[])[]) => {
    const found = await findAnswers(db, asked.flat());
    const byName = new Map(found.map((answer) => [nameOf(answer), answer]));
    return asked.map((names) => names.flatMap((name) => byName.get(nameOf(name)) ?? []));
  });
}

/** Gives back the new places of those who made no claim: their id is not used up. */
export async function leavePlaces(
  tx: Tx,
  taken: readonly Place[],
  claimed: ReadonlySet<Hash>,
): Promise<void> {
  for (const { scope, id } of taken.filter(({ claimKey }) => !claimed.has(claimKey)))
    await tx.delete(settleAnswer).where(and(eq(settleAnswer.scope, scope), eq(settleAnswer.id, id)));
}

import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { Context, TypedResponse } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { fromBytes, type Hash, toBytes } from "#kernel/bytes";
import { stableHash } from "#kernel/codec";
import { assert } from "#kernel/fault";
import { type Database, type Executor, sqlState, type Tx } from "#store";
import { headerCount, type MerchantCtx, type WriterCtx } from "./context.ts";
import { fault } from "./faults.ts";
import { idempotencyKey } from "./tables.ts";
import { routeOf } from "./version.ts";

/** What a write answers with; without a body it is a 204, or leads elsewhere. */
export type Answer = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Id of what was made. */
  readonly resourceId?: string;
} & ({ readonly status: ContentfulStatusCode; readonly body: unknown } | { readonly status: 204 | 303 });
type Stored = typeof idempotencyKey.$inferSelect;
/** Fits wherever a route's declared answers are asked for: a replayed answer is bytes, which no schema types. */
type Replayable = Response & TypedResponse<never, never, never>;
/** What makes two requests one write. Kept with what must never be made twice, it holds after the record of the key was
 *  pruned. */
export interface WriteKey {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: Hash;
}
/** `write` is null where no key came. */
type Work<Found> = (ctx: MerchantCtx, found: Found, write: WriteKey | null) => Promise<Answer>;

interface Write<Found> {
  /** The validated body. */
  readonly input: unknown;
  readonly isRequired: boolean;
  /** Of a form, which has it in a field; the header's when left out. */
  readonly key?: string;
  /** What the write is about, where several paths name it; the path's parameters when left out. */
  readonly about?: string;
  /** What the write must learn from outside: done before its transaction, and not at all for a replay. Changes nothing. */
  readonly beforehand: () => Promise<Found>;
}
const nothing = async () => undefined;

const KEEP_MS = 30 * 24 * 3_600_000;
const WAIT_MS = 5_000;

/** Runs a write once per `Idempotency-Key`: the record, the effect and the stored answer commit together, so there is
 *  no window in which one exists without the others. Without a key the write just runs, where the route allows that.
 *  Faults: `idempotency_key_required`, `…_invalid`, `…_reused`, `idempotency_in_progress`. Source: merchant-api.md §4. */
export function keyed(
  c: Context,
  write: Omit<Write<undefined>, "beforehand">,
  work: Work<undefined>,
): Promise<Replayable> {
  return keyedAfter(c, { ...write, beforehand: nothing }, work);
}

/** `keyed` for a write that asks outside first. */
export function keyedAfter<Found>(c: Context, write: Write<Found>, work: Work<Found>): Promise<Replayable> {
  const ctx = c.var.merchant;
  return keyedBy(c, ctx, { ...write, holder: ctx.merchantId }, work);
}

/** `keyedAfter` for who has no key: `holder` is the id in the path, which stands in the merchant's place. Source:
 *  merchant-api.md §4. */
export function keyedAt<Found>(
  c: Context,
  write: Write<Found> & { readonly holder: string },
  work: (ctx: WriterCtx, found: Found, write: WriteKey | null) => Promise<Answer>,
): Promise<Replayable> {
  const { ctx, edge } = c.var;
  const { newId, db } = edge;
  return keyedBy(c, { ...ctx, newId, db, tx: (inner) => db.tx(inner) }, write, work);
}

async function keyedBy<Found, C extends WriterCtx>(
  c: Context,
  ctx: C,
  { input, isRequired, about, beforehand, holder, ...write }: Write<Found> & { readonly holder: string },
  work: (ctx: C, found: Found, write: WriteKey | null) => Promise<Answer>,
): Promise<Replayable> {
  const key = write.key ?? (isRequired ? demandIdempotencyKey(c) : readIdempotencyKey(c));
  if (key === null) return respond(await work(ctx, await beforehand(), null)) as Replayable;
  const route = routeOf(c);
  const fingerprint = stableHash([route, about ?? c.req.param(), input]);
  const attempt = { scope: `${holder} ${route}`, key, fingerprint, route };
  const prepared = async () => {
    const found = await beforehand();
    return (tx: Tx) => work({ ...ctx, tx: (inner) => inner(tx) }, found, attempt);
  };
  return (await once(c, attempt, prepared)) as Replayable;
}

/** The key as sent, or null when none came. Quotes of the IETF form are part of it. Fault: `idempotency_key_invalid`. */
export function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (headerCount(c, "idempotency-key") > 1 || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw fault("idempotency_key_invalid");
  return key;
}

/** The key of a route that asks for one, also where nothing is written. Faults: `idempotency_key_required`,
 *  `idempotency_key_invalid`. */
export function demandIdempotencyKey(c: Context): string {
  const key = readIdempotencyKey(c);
  if (key === null) throw fault("idempotency_key_required");
  return key;
}

/** Deletes up to `limit` records whose time is over; the number deleted. For a job, which repeats it while the number
 *  is `limit`. */
export async function pruneIdempotencyKeys(
  { pool }: Pick<Database, "pool">,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<number> {
  const { scope, key, expiresAt } = idempotencyKey;
  const over = pool
    .select({ scope, key })
    .from(idempotencyKey)
    .where(lt(expiresAt, now))
    .orderBy(expiresAt)
    .limit(limit);
  const gone = await pool
    .delete(idempotencyKey)
    .where(inArray(sql`(${scope}, ${key})`, over))
    .returning({ key });
  return gone.length;
}

interface Attempt extends WriteKey {
  readonly route: string;
}

/** The write, in a transaction. */
type Writing = (tx: Tx) => Promise<Answer>;

/** The stored answer, or the write; while a twin of this process runs, its end is awaited first. */
async function once(c: Context, attempt: Attempt, prepared: () => Promise<Writing>): Promise<Response> {
  const { db, clock, writes } = c.var.edge;
  const { scope, key, fingerprint } = attempt;
  const name = `${scope} ${key}`;
  const until = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const earlier = await find(db.pool, attempt);
    if (earlier) return replay(earlier, fingerprint);
    const waitMs = until - clock.monotonicMs();
    const leave = writes.enter(name);
    if (leave) {
      try {
        return await prepareAndWrite(c, { ...attempt, waitMs }, prepared);
      } finally {
        leave();
      }
    }
    if (!(await writes.left(name, waitMs))) throw fault("idempotency_in_progress");
  }
}

async function prepareAndWrite(
  c: Context,
  attempt: Attempt & { readonly waitMs: number },
  prepared: () => Promise<Writing>,
): Promise<Response> {
  const { db } = c.var.edge;
  let work: Writing;
  try {
    work = await prepared();
  } catch (error) {
    // A twin of another process may have ended meanwhile: what it did is no reason to refuse it.
    const twin = await find(db.pool, attempt);
    if (!twin) throw error;
    return replay(twin, attempt.fingerprint);
  }
  return db.tx((tx) => first(tx, c, attempt, work));
}

async function first(
  tx: Tx,
  c: Context,
  attempt: Attempt & { readonly waitMs: number },
  work: Writing,
): Promise<Response> {
  if (!(await reserve(tx, attempt, c.var.ctx.now()))) {
    const twin = await find(tx, attempt);
    if (!twin) throw fault("idempotency_in_progress");
    return replay(twin, attempt.fingerprint);
  }
  const answer = inRevision(c, attempt.route, await work(tx));
  await noteWrite(tx, c, answer);
  assert(answer.status < 400, "a keyed write refuses by throwing, or its record would be kept");
  await tx
    .update(idempotencyKey)
    .set({
      resourceId: answer.resourceId ?? null,
      status: answer.status,
      headers: answer.headers ?? {},
      body: "body" in answer ? fromBytes(Buffer.from(JSON.stringify(answer.body))) : null,
    })
    .where(and(eq(idempotencyKey.scope, attempt.scope), eq(idempotencyKey.key, attempt.key)));
  return respond(answer);
}

/** In the transaction of the write itself, where a secret key stands behind it. */
async function noteWrite(tx: Tx, c: Context, { resourceId }: Answer): Promise<void> {
  const { merchant, isNoted, edge } = c.var;
  if (merchant?.scope.kind !== "sk" || isNoted) return;
  await edge.note(tx, merchant, { route: routeOf(c), subject: resourceId ?? c.req.param("id") ?? "" });
  c.set("isNoted", true);
}

/** The answer in the shape and with the name of the caller's revision: a replay keeps both. */
function inRevision(c: Context, route: string, answer: Answer): Answer {
  const { date, shape } = c.var.served;
  const headers = { ...answer.headers, "Service-Version": date };
  if (!("body" in answer)) return { ...answer, headers };
  return { ...answer, headers, body: shape({ route, status: answer.status, body: answer.body }) };
}

/** Takes the key, or waits for the twin of another process that holds it: false when that one committed, true when it
 *  rolled back. Fault: `idempotency_in_progress` when it did neither in time. */
async function reserve(
  tx: Tx,
  { scope, key, fingerprint, waitMs }: Attempt & { readonly waitMs: number },
  createdAt: Date,
): Promise<boolean> {
  const wait = `${Math.max(1, Math.round(waitMs))}ms`;
  await tx.execute(
    sql`SELECT set_config('lock_timeout', ${wait}, true), set_config('statement_timeout', '8s', true)`,
  );
  try {
    const rows = await tx
      .insert(idempotencyKey)
      .values({ scope, key, fingerprint, createdAt, expiresAt: new Date(createdAt.getTime() + KEEP_MS) })
      .onConflictDoNothing()
      .returning({ key: idempotencyKey.key });
    await tx.execute(
      sql`SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '5s', true)`,
    );
    return rows.length > 0;
  } catch (error) {
    if (sqlState(error) === "55P03") throw fault("idempotency_in_progress", {}, error);
    throw error;
  }
}

async function find(db: Executor, { scope, key }: Attempt): Promise<Stored | undefined> {
  const [row] = await db
    .select()
    .from(idempotencyKey)
    .where(and(eq(idempotencyKey.scope, scope), eq(idempotencyKey.key, key)));
  return row;
}

function replay({ fingerprint, status, headers, body }: Stored, asked: Hash): Response {
  if (fingerprint !== asked) throw fault("idempotency_key_reused");
  if (status === null) throw fault("idempotency_in_progress");
  return new Response(body === null ? null : toBytes(body), {
    status,
    headers: { ...(body === null ? {} : json), ...headers, "Idempotent-Replayed": "true" },
  });
}

const json = { "Content-Type": "application/json" };

function respond(answer: Answer): Response {
  if (!("body" in answer))
    return new Response(null, {
      status: answer.status,
      ...(answer.headers && { headers: answer.headers }),
    });
  return new Response(JSON.stringify(answer.body), {
    status: answer.status,
    headers: { ...json, ...answer.headers },
  });
}

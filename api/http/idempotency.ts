import { and, eq, sql } from "drizzle-orm";
import type { Context, TypedResponse } from "hono";
import { routePath } from "hono/route";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { fromBytes, type Hash, toBytes } from "#kernel/bytes";
import { stableHash } from "#kernel/codec";
import { type Executor, sqlState, type Tx } from "#store";
import { headerCount, type MerchantCtx } from "./context.ts";
import { fault } from "./faults.ts";
import { idempotencyKey } from "./tables.ts";

/** What a write answers with. */
export interface Answer {
  readonly status: ContentfulStatusCode;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Id of what was made. */
  readonly resourceId?: string;
}
type Stored = typeof idempotencyKey.$inferSelect;
/** Fits wherever a route's declared answers are asked for: a replayed answer is bytes, which no schema types. */
type Replayable = Response & TypedResponse<never, never, never>;
type Work = (ctx: MerchantCtx) => Promise<Answer>;

const KEEP_MS = 30 * 24 * 3_600_000;

/** Runs a write once per `Idempotency-Key`: the record, the effect and the stored answer commit together, so there is
 *  no window in which one exists without the others. `input` is the validated body. Without a key the write just
 *  runs, where the route allows that. Faults: `idempotency_key_required`, `…_invalid`, `…_reused`,
 *  `idempotency_in_progress`. Source: merchant-api.md §4. */
export async function keyed(
  c: Context,
  { input, isRequired }: { readonly input: unknown; readonly isRequired: boolean },
  work: Work,
): Promise<Replayable> {
  const ctx = c.var.merchant;
  const key = readIdempotencyKey(c);
  if (key === null) {
    if (isRequired) throw fault("idempotency_key_required");
    return respond(await work(ctx)) as Replayable;
  }
  const template = routePath(c);
  const scope = `${ctx.merchantId} ${c.req.method} ${template}`;
  const fingerprint = stableHash([c.req.method, template, c.req.param(), input]);
  const earlier = await find(ctx.db.pool, scope, key);
  const answer = earlier
    ? replay(earlier, fingerprint)
    : await ctx.db.tx((tx) => first(tx, { ctx, scope, key, fingerprint }, work));
  return answer as Replayable;
}

/** The key as sent, or null when none came. Quotes of the IETF form are part of it. */
export function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (headerCount(c, "idempotency-key") > 1 || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw fault("idempotency_key_invalid");
  return key;
}

interface Attempt {
  readonly ctx: MerchantCtx;
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: Hash;
}

async function first(tx: Tx, attempt: Attempt, work: Work): Promise<Response> {
  const { ctx, scope, key, fingerprint } = attempt;
  if (!(await reserve(tx, attempt))) {
    const twin = await find(tx, scope, key);
    if (!twin) throw fault("idempotency_in_progress");
    return replay(twin, fingerprint);
  }
  const answer = await work({ ...ctx, tx: (inner) => inner(tx) });
  await tx
    .update(idempotencyKey)
    .set({
      resourceId: answer.resourceId ?? null,
      status: answer.status,
      headers: answer.headers ?? {},
      body: fromBytes(Buffer.from(JSON.stringify(answer.body))),
    })
    .where(and(eq(idempotencyKey.scope, scope), eq(idempotencyKey.key, key)));
  return respond(answer);
}

/** Takes the key, or waits for the twin that holds it: false when the twin committed, true when it rolled back. */
async function reserve(tx: Tx, { ctx, scope, key, fingerprint }: Attempt): Promise<boolean> {
  const createdAt = ctx.now();
  await tx.execute(
    sql`SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '8s', true)`,
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

async function find(db: Executor, scope: string, key: string): Promise<Stored | undefined> {
  const [row] = await db
    .select()
    .from(idempotencyKey)
    .where(and(eq(idempotencyKey.scope, scope), eq(idempotencyKey.key, key)));
  return row;
}

function replay({ fingerprint, status, headers, body }: Stored, asked: Hash): Response {
  if (fingerprint !== asked) throw fault("idempotency_key_reused");
  if (status === null || body === null) throw fault("idempotency_in_progress");
  return new Response(toBytes(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers, "Idempotent-Replayed": "true" },
  });
}

function respond({ status, body, headers }: Answer): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

import { and, desc, eq, lt } from "drizzle-orm";
import { isId } from "#kernel/id";
import type { Executor } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault, invalid } from "../../http/faults.ts";
import type { Page } from "../../http/page.ts";
import { presets } from "../../http/permissions.ts";
import { type KeyRow, presentKey } from "../present.ts";
import type { ApiKey, ApiKeyInput, ApiKeyPath, IssuedApiKey, Rotation } from "../schema.ts";
import { apiKey } from "../tables.ts";
import { actorOf } from "./audit.ts";
import { excessOf, inheritedLimits } from "./key-limits.ts";
import { endRow, insertKey, type KeyMaker, replaceRow } from "./key-row.ts";

/** A merchant's keys, newest first, ended ones included; one more than the page holds when there are more. */
export async function listKeys({ ctx, input }: Call<Page>): Promise<readonly ApiKey[]> {
  ctx.demand("keys:manage");
  const after = input.after === null ? undefined : lt(apiKey.id, input.after as KeyRow["id"]);
  const rows = await ctx.db.pool
    .select()
    .from(apiKey)
    .where(and(eq(apiKey.merchantId, ctx.merchantId), after))
    .orderBy(desc(apiKey.id))
    .limit(input.limit + 1);
  return rows.map(presentKey);
}

/** One of them. Fault: `not_found`. */
export async function readKey({ ctx, input }: Call<ApiKeyPath>): Promise<ApiKey> {
  ctx.demand("keys:manage");
  return presentKey(await own(ctx.db.pool, ctx, input.id));
}

/** Creates a key that may do no more than the one that asks, works from no more addresses, and ends no later. Faults:
 *  `permission_denied`, `key_limits_exceeded`, `validation_failed` for an expiry that is past. */
export async function issueKey(maker: KeyMaker, { ctx, input }: Call<ApiKeyInput>): Promise<IssuedApiKey> {
  ctx.demand("keys:manage");
  const { permissions: given, preset, allowedIps, expiresAt, ...rest } = input;
  const granted = given ?? (preset ? presets[preset] : []);
  for (const permission of granted) ctx.demand(permission);
  const until = expiresAt === undefined ? undefined : new Date(expiresAt);
  if (until && until <= ctx.now()) throw invalid("/expiresAt", "in the future");
  const inherited = inheritedLimits(ctx.scope, rest.kind);
  const limits = { ...inherited, ...(allowedIps && { allowedIps }), ...(until && { expiresAt: until }) };
  const excess = excessOf(limits, ctx.scope);
  const next = "Leave it out to have the same, ask for less, or use a key without this limit.";
  if (excess) throw fault("key_limits_exceeded", { ...excess, next });
  return ctx.tx(async (tx) => {
    const { row, plaintext } = await insertKey(tx, maker, actorOf(ctx), {
      merchantId: ctx.merchantId,
      permissions: [...new Set(granted)],
      ...stripUndefined(rest),
      ...limits,
    });
    return { ...presentKey(row), key: plaintext };
  });
}

/** A new key like the old one, its limits included, which stays good for `graceSeconds`. It may do no more than the key
 *  that asks and reaches no further, or a key could be rotated into the hands of who may less. Faults: `not_found`,
 *  `permission_denied`, `key_limits_exceeded`, `key_revoked`. */
export async function rotateKey(
  maker: KeyMaker,
  { ctx, input }: Call<ApiKeyPath & Rotation>,
): Promise<IssuedApiKey> {
  ctx.demand("keys:manage");
  return ctx.tx(async (tx) => {
    const old = await own(tx, ctx, input.id);
    for (const permission of old.permissions) ctx.demand(permission);
    const excess = excessOf(old, ctx.scope);
    const next = "Use a key without this limit.";
    if (excess) throw fault("key_limits_exceeded", { why: excess.why, next });
    const { row, plaintext } = await replaceRow(tx, maker, actorOf(ctx), { old, ...input });
    return { ...presentKey(row), key: plaintext };
  });
}

/** Ends a key at once, that is within the cache's 5 s; done twice it changes nothing. Fault: `not_found`. */
export async function endKey({ ctx, input }: Call<ApiKeyPath>): Promise<void> {
  ctx.demand("keys:manage");
  await ctx.tx(async (tx) => endRow(tx, actorOf(ctx), await own(tx, ctx, input.id)));
}

/** A key of the merchant that asks. Fault: `not_found`. */
async function own(db: Executor, { merchantId }: MerchantCtx, id: string): Promise<KeyRow> {
  if (!isId("key", id)) throw fault("not_found");
  const one = and(eq(apiKey.merchantId, merchantId), eq(apiKey.id, id));
  const [row] = await db.select().from(apiKey).where(one);
  if (!row) throw fault("not_found");
  return row;
}

/** What was sent, without the members that were not. */
function stripUndefined<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

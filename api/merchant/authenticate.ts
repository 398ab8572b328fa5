import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Database } from "#store";
import type { MerchantScope } from "../http/context.ts";
import { withImplied } from "../http/permissions.ts";
import { hashingKey, keyHmac, readKey, type Secret, sameHmac } from "./key.ts";
import { apiKey } from "./tables.ts";

type KeyRow = typeof apiKey.$inferSelect;
interface Cached {
  readonly row: KeyRow | null;
  readonly scope: MerchantScope | null;
  readonly untilMs: number;
}

/** A revoked key works at most this much longer. */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const USED_AT_MS = 60_000;

/** Turns a bearer key into who asks. Null for a key that is unknown, revoked or expired: the caller cannot tell which. */
export function createAuthenticator({
  db,
  clock,
  log,
  masterSecret,
}: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly masterSecret: Secret;
}): (key: string) => Promise<MerchantScope | null> {
  const hashing = hashingKey(masterSecret);
  const cache = new Map<string, Cached>();

  async function look(keyId: string): Promise<Cached> {
    const known = cache.get(keyId);
    if (known && known.untilMs > clock.monotonicMs()) return known;
    const [row = null] = await db.pool.select().from(apiKey).where(eq(apiKey.keyId, keyId));
    const entry = { row, scope: row && scopeOf(row), untilMs: clock.monotonicMs() + CACHE_MS };
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(keyId, entry);
    if (row) void touch(row);
    return entry;
  }

  /** At most once a minute and key; nobody waits for it. */
  async function touch({ keyId, lastUsedAt }: KeyRow): Promise<void> {
    const now = clock.now();
    const due = new Date(now.getTime() - USED_AT_MS);
    if (lastUsedAt && lastUsedAt >= due) return;
    const stale = and(eq(apiKey.keyId, keyId), or(isNull(apiKey.lastUsedAt), lt(apiKey.lastUsedAt, due)));
    await db.pool
      .update(apiKey)
      .set({ lastUsedAt: now })
      .where(stale)
      .catch((error: unknown) =>
        log.warn({ keyId, ...errorFields(error) }, "the last use of a key was not noted"),
      );
  }

  return async (key) => {
    const parts = readKey(key);
    if (!parts) return null;
    const { row, scope } = await look(parts.keyId);
    if (!row || !sameHmac(row.hmac, keyHmac(hashing, key))) return null;
    const isOver = row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= clock.now());
    return isOver ? null : scope;
  };
}

/** The only place that makes a scope; the cast gives it the mark that nothing else can. */
function scopeOf({ merchantId, keyId, kind, permissions }: KeyRow): MerchantScope {
  const granted = kind === "sk" ? withImplied(permissions) : new Set();
  return { merchantId, keyId, kind, permissions: granted } as MerchantScope;
}

import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Database } from "#store";
import type { Edge, MerchantScope } from "../http/context.ts";
import { withImplied } from "../http/permissions.ts";
import { hashingKey, keyHmac, readKey, type Secret, sameHmac } from "./key.ts";
import type { KeyRow, MerchantRow } from "./present.ts";
import { apiKey, merchant } from "./tables.ts";

interface Cached {
  readonly row: KeyRow | null;
  readonly scope: MerchantScope | null;
  readonly untilMs: number;
}

/** A revoked key works at most this much longer. */
const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;
const USED_AT_MS = 60_000;

/** What a scope has of the merchant whose key it is. */
const holder = { allowedOrigins: merchant.allowedOrigins, suspendedAt: merchant.suspendedAt };
type Holder = Pick<MerchantRow, keyof typeof holder>;

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
}): Edge["authenticate"] {
  const hashing = hashingKey(masterSecret);
  // Apart, so that made-up keys in any number displace none that is in use.
  const found = new Map<string, Cached>();
  const missing = new Map<string, Cached>();
  const cached = (keyId: string) => found.get(keyId) ?? missing.get(keyId);

  async function look(keyId: string, isKnownOnly: boolean): Promise<Cached | null> {
    const known = cached(keyId);
    if (known && known.untilMs > clock.monotonicMs()) return known;
    if (isKnownOnly && !known?.row) return null;
    const [entered] = await db.pool
      .select({ row: apiKey, holder })
      .from(apiKey)
      .innerJoin(merchant, eq(merchant.id, apiKey.merchantId))
      .where(eq(apiKey.keyId, keyId));
    const entry = {
      row: entered?.row ?? null,
      scope: entered ? scopeOf(entered.row, entered.holder) : null,
      untilMs: clock.monotonicMs() + CACHE_MS,
    };
    const kept = entered ? found : missing;
    if (kept.size >= CACHE_SIZE) kept.clear();
    kept.set(keyId, entry);
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

  return async (key, { isKnownOnly } = { isKnownOnly: false }) => {
    const parts = readKey(key);
    if (!parts) return null;
    const known = cached(parts.keyId);
    const seen = await look(parts.keyId, isKnownOnly);
    if (!seen?.row || !sameHmac(seen.row.hmac, keyHmac(hashing, key)) || isOver(seen.row, clock.now()))
      return null;
    if (seen !== known) void touch(seen.row);
    return seen.scope;
  };
}

/** Finds who a key stands for without the key itself: for what the key has opened. It asks each time, so that whatever
 *  ends the key ends that as well. Null for a key that is gone, revoked or expired. */
export function createStandIn({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): (key: Pick<KeyRow, "merchantId" | "keyId">) => Promise<MerchantScope | null> {
  return async ({ merchantId, keyId }) => {
    const [found] = await db.pool
      .select({ row: apiKey, holder })
      .from(apiKey)
      .innerJoin(merchant, eq(merchant.id, apiKey.merchantId))
      .where(and(eq(apiKey.merchantId, merchantId), eq(apiKey.keyId, keyId)));
    if (found?.row.kind !== "sk" || isOver(found.row, clock.now())) return null;
    return scopeOf(found.row, found.holder);
  };
}

function isOver({ revokedAt, expiresAt }: KeyRow, now: Date): boolean {
  return (revokedAt !== null && revokedAt <= now) || (expiresAt !== null && expiresAt <= now);
}

/** The only place that makes a scope; the cast gives it the mark that nothing else can. */
function scopeOf(row: KeyRow, { allowedOrigins: origins, suspendedAt }: Holder): MerchantScope {
  const { merchantId, keyId, kind, permissions, allowedIps } = row;
  const granted = kind === "sk" ? withImplied(permissions) : new Set();
  const allowedOrigins = row.allowedOrigins ?? origins;
  const end = endOf(row);
  const may = { permissions: granted, allowedOrigins, allowedIps, isSuspended: suspendedAt !== null };
  return { merchantId, keyId, kind, ...may, expiresAt: end } as MerchantScope;
}

/** A key that was replaced ends with its grace: so do those that it makes until then. */
function endOf({ revokedAt, expiresAt }: KeyRow): Date | null {
  if (revokedAt === null || expiresAt === null) return revokedAt ?? expiresAt;
  return revokedAt < expiresAt ? revokedAt : expiresAt;
}

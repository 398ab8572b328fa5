import { createHash } from "node:crypto";
import { and, eq, gt, inArray, lte } from "drizzle-orm";
import { fromBytes, type Hash } from "#kernel/bytes";
import type { Clock, Random } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Database } from "#store";
import type { MerchantScope } from "../../http/context.ts";
import { merchant } from "../../merchant/tables.ts";
import { note } from "../../merchant/verbs/audit.ts";
import { dashboardSession } from "../tables.ts";

export type SessionRow = typeof dashboardSession.$inferSelect;

/** What sessions need. The clock is this machine's: nobody is signed out because a sandbox moved the merchants' one. */
export interface SessionDesk {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}
/** A session that is good, with what its pages show of it. */
export interface Session extends SessionRow {
  readonly merchantName: string;
  /** Why the merchant is suspended; null while it is not. */
  readonly suspensionReason: string | null;
}

const IDLE_MS = 12 * 3_600_000;
const USED_AT_MS = 60_000;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Opens a session for who showed a key; the token of its cookie, which is never had again. */
export async function openSession(
  desk: SessionDesk,
  { merchantId, keyId }: Pick<MerchantScope, "merchantId" | "keyId">,
): Promise<string> {
  const [token, csrfToken] = [newToken(desk), newToken(desk)];
  const at = desk.clock.now();
  await desk.db.tx(async (tx) => {
    await tx
      .insert(dashboardSession)
      .values({ merchantId, tokenHash: hashOf(token), keyId, csrfToken, createdAt: at, lastUsedAt: at });
    const signedIn = { merchantId, action: "dashboard.signed_in", subject: keyId, detail: {} } as const;
    await note(tx, actorOf(desk, keyId), signedIn);
  });
  return token;
}

/** The session of a cookie's token; null where there is none, or it lay idle too long. */
export async function findSession({ db, clock }: SessionDesk, token: string): Promise<Session | null> {
  if (!TOKEN.test(token)) return null;
  const idleSince = new Date(clock.now().getTime() - IDLE_MS);
  const { tokenHash, lastUsedAt } = dashboardSession;
  const [found] = await db.pool
    .select({
      row: dashboardSession,
      seller: { merchantName: merchant.name, suspensionReason: merchant.suspensionReason },
    })
    .from(dashboardSession)
    .innerJoin(merchant, eq(merchant.id, dashboardSession.merchantId))
    .where(and(eq(tokenHash, hashOf(token)), gt(lastUsedAt, idleSince)));
  if (!found) return null;
  await touch({ db, clock }, found.row);
  return { ...found.row, ...found.seller };
}

/** At most once a minute. */
async function touch({ db, clock }: Pick<SessionDesk, "db" | "clock">, row: SessionRow): Promise<void> {
  const at = clock.now();
  if (row.lastUsedAt.getTime() > at.getTime() - USED_AT_MS) return;
  await db.pool.update(dashboardSession).set({ lastUsedAt: at }).where(isIt(row));
}

/** Ends a session; one that has ended stays so. */
export async function endSession(desk: SessionDesk, row: SessionRow): Promise<void> {
  await desk.db.tx(async (tx) => {
    const gone = await tx
      .delete(dashboardSession)
      .where(isIt(row))
      .returning({ keyId: dashboardSession.keyId });
    if (gone.length === 0) return;
    const { merchantId, keyId } = row;
    const signedOut = { merchantId, action: "dashboard.signed_out", subject: keyId, detail: {} } as const;
    await note(tx, actorOf(desk, keyId), signedOut);
  });
}

/** Deletes up to `limit` sessions that lay idle too long; the number deleted. */
export async function pruneSessions(
  { db, clock }: Pick<SessionDesk, "db" | "clock">,
  limit: number,
): Promise<number> {
  const { tokenHash, lastUsedAt } = dashboardSession;
  const idleSince = new Date(clock.now().getTime() - IDLE_MS);
  const over = db.pool
    .select({ tokenHash })
    .from(dashboardSession)
    .where(lte(lastUsedAt, idleSince))
    .limit(limit);
  const gone = await db.pool
    .delete(dashboardSession)
    .where(inArray(tokenHash, over))
    .returning({ tokenHash });
  return gone.length;
}

function isIt({ merchantId, tokenHash }: SessionRow) {
  return and(eq(dashboardSession.merchantId, merchantId), eq(dashboardSession.tokenHash, tokenHash));
}

function actorOf({ newId, clock }: SessionDesk, keyId: string) {
  return { keyId, newId, now: () => clock.now() };
}

function newToken({ random }: SessionDesk): string {
  return Buffer.from(random.bytes(TOKEN_BYTES)).toString("base64url");
}

function hashOf(token: string): Hash {
  return fromBytes(createHash("sha256").update(token).digest()) as Hash;
}

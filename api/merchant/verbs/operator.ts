import { and, asc, count, eq, gt, isNull, or } from "drizzle-orm";
import { holdPayouts } from "#facilitator";
import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import { type Database, outbox, type Tx, withTx } from "#store";
import { fault } from "../../http/faults.ts";
import type { KeyRow, MerchantRow } from "../present.ts";
import { MerchantInput } from "../schema.ts";
import { apiKey, merchant } from "../tables.ts";
import { type Actor, note } from "./audit.ts";
import { endRow, findKey, insertKey, type KeyInput, type KeyMaker, replaceRow } from "./key-row.ts";
import { findMerchant } from "./merchant.ts";

/** What the operator's verbs need: they are called from the command line and at the first start, not over HTTP. */
export interface Operator {
  readonly db: Database | Tx;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Creates a merchant. One that exists under the given id stays as it is. */
export async function createMerchant(
  { db, clock, newId }: Operator,
  input: MerchantInput,
): Promise<MerchantRow> {
  const { id = newId("mer"), ...rest } = MerchantInput.parse(input);
  const createdAt = clock.now();
  return withTx(db, async (tx) => {
    await tx
      .insert(merchant)
      .values({ id, ...rest, createdAt, updatedAt: createdAt })
      .onConflictDoNothing();
    return findMerchant(tx, id);
  });
}

export interface CreatedKey {
  readonly id: string;
  readonly keyId: string;
  /** Shown this once. */
  readonly plaintext: string;
}

/** Creates a key for the operator. Only its HMAC is kept: the plaintext cannot be had again. */
export async function createKey(maker: Operator & KeyMaker, input: KeyInput): Promise<CreatedKey> {
  return withTx(maker.db, async (tx) => {
    const { row, plaintext } = await insertKey(tx, maker, operatorOf(maker), input);
    return { id: row.id, keyId: row.keyId, plaintext };
  });
}

/** The operator's rotation: a new key like the old one, which stays good for `graceSeconds`. Faults: `not_found`,
 *  `key_revoked`. */
export async function replaceKey(
  maker: Operator & KeyMaker,
  { key, graceSeconds }: { readonly key: string; readonly graceSeconds: number },
): Promise<CreatedKey & { readonly merchantId: string }> {
  return withTx(maker.db, async (tx) => {
    const old = await findKey(tx, key);
    const { row, plaintext } = await replaceRow(tx, maker, operatorOf(maker), { old, graceSeconds });
    return { merchantId: row.merchantId, id: row.id, keyId: row.keyId, plaintext };
  });
}

/** Ends a key for the operator, by its id or by the 12 characters that logs show. Takes effect within the cache's 5 s.
 *  Ending an ended key changes nothing. Fault: `not_found`. */
export async function revokeKey(
  operator: Operator,
  { key }: { readonly key: string },
): Promise<{ readonly merchantId: string; readonly id: string }> {
  return withTx(operator.db, async (tx) => {
    const row = await findKey(tx, key);
    await endRow(tx, operatorOf(operator), row);
    return row;
  });
}

export interface ListedMerchant
  extends Pick<MerchantRow, "id" | "createdAt" | "feeBps" | "name" | "suspendedAt" | "suspensionReason"> {
  /** Keys that are good now. */
  readonly keys: number;
}

/** All merchants, oldest first. */
export async function listMerchants({ db, clock }: Operator): Promise<readonly ListedMerchant[]> {
  const now = clock.now();
  return withTx(db, (tx) =>
    tx
      .select({
        ...{ id: merchant.id, createdAt: merchant.createdAt, feeBps: merchant.feeBps, name: merchant.name },
        ...{ suspendedAt: merchant.suspendedAt, suspensionReason: merchant.suspensionReason },
        keys: count(apiKey.id),
      })
      .from(merchant)
      .leftJoin(apiKey, and(eq(apiKey.merchantId, merchant.id), isGood(now)))
      .groupBy(merchant.id)
      .orderBy(asc(merchant.createdAt), asc(merchant.id)),
  );
}

export interface ListedKey
  extends Pick<KeyRow, "merchantId" | "id" | "kind" | "keyId" | "name" | "lastUsedAt"> {
  /** When it ends or ended; null while nothing says so. */
  readonly endsAt: Date | null;
}

/** The keys of one merchant, or of all; oldest first. Fault: `not_found`. */
export async function listEveryKey(
  { db }: Operator,
  { merchantId }: { readonly merchantId: string | undefined },
): Promise<readonly ListedKey[]> {
  const rows = await withTx(db, async (tx) => {
    const of = merchantId === undefined ? undefined : await findMerchant(tx, merchantId);
    return tx
      .select()
      .from(apiKey)
      .where(of && eq(apiKey.merchantId, of.id))
      .orderBy(asc(apiKey.merchantId), asc(apiKey.createdAt), asc(apiKey.id));
  });
  return rows.map((row) => {
    const ends = [row.expiresAt, row.revokedAt].flatMap((end) => end?.getTime() ?? []);
    return { ...row, endsAt: ends.length === 0 ? null : new Date(Math.min(...ends)) };
  });
}

/** Changes our fee on what a merchant sells from now on, and returns the one before. What was asked for keeps the fee of its day;
 *  what agents are offered is told anew. Fault: `not_found`. */
export async function changeFee(
  operator: Operator,
  { merchantId, feeBps }: { readonly merchantId: string; readonly feeBps: number },
): Promise<number> {
  return withTx(operator.db, async (tx) => {
    const before = await lockMerchant(tx, merchantId);
    if (before.feeBps !== feeBps) await changeFor(tx, operator, merchantId, { feeBps });
    return before.feeBps;
  });
}

/** Lets a merchant ask for no money and take none out, until it is resumed; what was asked for already can still be
 *  booked, and refunded. Its reason is told to the merchant; a second one takes the place of the first. Returns how many of
 *  its payouts wait for an operator's approval from now on: those that were not signed. Fault: `not_found`. */
export async function suspendMerchant(
  operator: Operator,
  { merchantId, reason }: { readonly merchantId: string; readonly reason: string },
): Promise<number> {
  return withTx(operator.db, async (tx) => {
    const { suspendedAt: before, suspensionReason } = await lockMerchant(tx, merchantId);
    const suspendedAt = before ?? operator.clock.now();
    if (reason !== suspensionReason)
      await changeFor(tx, operator, merchantId, { suspendedAt, suspensionReason: reason });
    return holdPayouts(tx, merchantId);
  });
}

/** Lets it sell again; payouts that wait for an approval still do. False: it was not suspended. Fault: `not_found`. */
export async function resumeMerchant(operator: Operator, merchantId: string): Promise<boolean> {
  return withTx(operator.db, async (tx) => {
    const { suspendedAt } = await lockMerchant(tx, merchantId);
    if (suspendedAt === null) return false;
    await changeFor(tx, operator, merchantId, { suspendedAt: null, suspensionReason: null });
    return true;
  });
}

async function lockMerchant(tx: Tx, merchantId: string): Promise<MerchantRow> {
  const [row] = await tx.select().from(merchant).where(eq(merchant.id, merchantId)).for("update");
  if (!row) throw fault("not_found");
  return row;
}

/** Changes it, and tells the world. */
async function changeFor(
  tx: Tx,
  operator: Operator,
  merchantId: string,
  changes: Partial<MerchantRow>,
): Promise<void> {
  await tx
    .update(merchant)
    .set({ ...changes, updatedAt: operator.clock.now() })
    .where(eq(merchant.id, merchantId));
  const about = { merchantId, subject: merchantId };
  await note(tx, operatorOf(operator), { ...about, action: "merchant.updated", detail: changes });
  const payload = { changed: Object.keys(changes) };
  await outbox.append(tx, [{ ...about, id: operator.newId("evt"), type: "merchant.updated", payload }]);
}

function isGood(now: Date) {
  return and(
    or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
    or(isNull(apiKey.revokedAt), gt(apiKey.revokedAt, now)),
  );
}

function operatorOf({ clock, newId }: Operator): Actor {
  return { keyId: null, newId, now: () => clock.now() };
}

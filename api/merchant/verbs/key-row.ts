import { and, eq, gt, isNull, or } from "drizzle-orm";
import type { Random } from "#kernel/clock";
import { isId } from "#kernel/id";
import { cleanText } from "#kernel/text";
import type { Executor, Tx } from "#store";
import { fault } from "../../http/faults.ts";
import { type Permission, permissions } from "../../http/permissions.ts";
import { deriveKey, hashingKey, type KeyKind, keyHmac, makeKey, readKey, type Secret } from "../key.ts";
import type { KeyRow } from "../present.ts";
import { apiKey } from "../tables.ts";
import { type Actor, note } from "./audit.ts";

/** What making a key takes. */
export interface KeyMaker {
  readonly random: Random;
  readonly masterSecret: Secret;
}

export interface KeyInput {
  readonly merchantId: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** All of them when left out; a publishable key has none. */
  readonly permissions?: readonly Permission[];
  readonly allowedOrigins?: readonly string[];
  readonly allowedIps?: readonly string[] | null;
  readonly expiresAt?: Date | null;
  /** Makes the same key from the same seed, and finds it again when it exists. */
  readonly seed?: Secret;
}
export interface Made {
  readonly row: KeyRow;
  readonly plaintext: string;
}

/** A key and its row, with a note of it. One made of a seed is found again. */
export async function insertKey(tx: Tx, maker: KeyMaker, by: Actor, input: KeyInput): Promise<Made> {
  const { merchantId, kind, name, seed, permissions: given = permissions } = input;
  const plaintext = seed === undefined ? makeKey(kind, maker.random) : deriveKey(kind, seed);
  const keyId = readKey(plaintext)?.keyId ?? "";
  const [made] = await tx
    .insert(apiKey)
    .values({
      merchantId,
      id: by.newId("key"),
      keyId,
      kind,
      hmac: keyHmac(hashingKey(maker.masterSecret), plaintext),
      last4: plaintext.slice(-4),
      name: cleanText(name),
      permissions: kind === "pk" ? [] : given,
      allowedOrigins: input.allowedOrigins ?? null,
      allowedIps: input.allowedIps ?? null,
      createdBy: by.keyId,
      createdAt: by.now(),
      expiresAt: input.expiresAt ?? null,
    })
    .onConflictDoNothing({ target: apiKey.keyId })
    .returning();
  if (made) {
    const detail = { keyId, kind, permissions: made.permissions };
    await note(tx, by, { merchantId, action: "key.created", subject: made.id, detail });
  }
  const row = made ?? (await findKey(tx, keyId));
  if (row.merchantId !== merchantId) throw new Error("the derived key belongs to another merchant");
  return { row, plaintext };
}

/** A new key like `old`, which ends when its grace is over. Fault: `key_revoked` when it has ended or is about to. */
export async function replaceRow(
  tx: Tx,
  maker: KeyMaker,
  by: Actor,
  { old, graceSeconds }: { readonly old: KeyRow; readonly graceSeconds: number },
): Promise<Made> {
  const now = by.now();
  const revokedAt = new Date(now.getTime() + graceSeconds * 1_000);
  const [replaced] = await tx
    .update(apiKey)
    .set({ revokedAt })
    .where(and(same(old), isNull(apiKey.revokedAt), or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now))))
    .returning({ id: apiKey.id });
  if (!replaced) throw fault("key_revoked");
  const { merchantId, kind, name, permissions: given, allowedOrigins, allowedIps, expiresAt } = old;
  const made = await insertKey(tx, maker, by, {
    merchantId,
    kind,
    name,
    permissions: given,
    ...(allowedOrigins && { allowedOrigins }),
    allowedIps,
    expiresAt,
  });
  const detail = { keyId: old.keyId, replacedBy: made.row.keyId, graceSeconds };
  await note(tx, by, { merchantId, action: "key.rotated", subject: old.id, detail });
  return made;
}

/** Ends a key now; an ended one stays as it is. */
export async function endRow(tx: Tx, by: Actor, row: KeyRow): Promise<void> {
  const now = by.now();
  const [ended] = await tx
    .update(apiKey)
    .set({ revokedAt: now })
    .where(and(same(row), or(isNull(apiKey.revokedAt), gt(apiKey.revokedAt, now))))
    .returning({ keyId: apiKey.keyId });
  if (!ended) return;
  const { merchantId, id } = row;
  await note(tx, by, { merchantId, action: "key.revoked", subject: id, detail: ended });
}

/** Any merchant's key, for the operator; also by the 12 characters that logs show. Fault: `not_found`. */
export async function findKey(db: Executor, key: string): Promise<KeyRow> {
  const one = isId("key", key) ? eq(apiKey.id, key) : eq(apiKey.keyId, key);
  const [row] = await db.select().from(apiKey).where(one);
  if (!row) throw fault("not_found");
  return row;
}

function same({ merchantId, id }: KeyRow) {
  return and(eq(apiKey.merchantId, merchantId), eq(apiKey.id, id));
}

import { and, eq, isNull } from "drizzle-orm";
import { z } from "zod";
import type { Clock, Random } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import { cleanText } from "#kernel/text";
import type { Database, Executor, Tx } from "#store";
import { withTx } from "#store";
import { fault } from "../http/faults.ts";
import { type Permission, permissions } from "../http/permissions.ts";
import { deriveKey, hashingKey, type KeyKind, keyHmac, makeKey, readKey, type Secret } from "./key.ts";
import { apiKey, merchant } from "./tables.ts";

/** What the operator's verbs need: they are called from the command line and at the first start, not over HTTP. */
export interface Operator {
  readonly db: Database | Tx;
  readonly clock: Clock;
  readonly newId: NewId;
}

const MerchantInput = z.strictObject({
  /** For a merchant whose id must be the same after a restart; made anew when left out. */
  id: z
    .string()
    .regex(/^mer_[0-9A-HJKMNP-TV-Z]{26}$/)
    .optional(),
  name: z
    .string()
    .min(1)
    .max(140)
    .transform((text) => cleanText(text)),
  city: z
    .string()
    .min(1)
    .max(140)
    .transform((text) => cleanText(text)),
  countryCode: z.string().regex(/^[A-Z]{2}$/),
  feeBps: z.int().min(0).max(10_000).default(0),
});
export type MerchantInput = z.input<typeof MerchantInput>;
export type MerchantRow = typeof merchant.$inferSelect;

/** Creates a merchant. One that exists under the given id stays as it is. */
export async function createMerchant(
  { db, clock, newId }: Operator,
  input: MerchantInput,
): Promise<MerchantRow> {
  const { id = newId("mer"), ...rest } = MerchantInput.parse(input);
  return withTx(db, async (tx) => {
    await tx
      .insert(merchant)
      .values({ id, ...rest, createdAt: clock.now() })
      .onConflictDoNothing();
    return readMerchant(tx, id);
  });
}

/** Fault: `not_found`. */
export async function readMerchant(db: Executor, id: string): Promise<MerchantRow> {
  const [row] = await db.select().from(merchant).where(eq(merchant.id, id));
  if (!row) throw fault("not_found");
  return row;
}

export interface KeyInput {
  readonly merchantId: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** All of them when left out; a publishable key has none. */
  readonly permissions?: readonly Permission[];
  readonly expiresAt?: Date;
  /** Makes the same key from the same seed, and finds it again when it exists. */
  readonly seed?: Secret;
}
export interface CreatedKey {
  readonly id: string;
  readonly keyId: string;
  /** Shown this once. */
  readonly plaintext: string;
}

/** Creates a key. Only its HMAC is kept: the plaintext cannot be had again. */
export async function createKey(
  {
    db,
    clock,
    newId,
    random,
    masterSecret,
  }: Operator & { readonly random: Random; readonly masterSecret: Secret },
  { merchantId, kind, name, seed, expiresAt, permissions: given = permissions }: KeyInput,
): Promise<CreatedKey> {
  const plaintext = seed === undefined ? makeKey(kind, random) : deriveKey(kind, seed);
  const keyId = readKey(plaintext)?.keyId ?? "";
  return withTx(db, async (tx) => {
    await tx
      .insert(apiKey)
      .values({
        merchantId,
        id: newId("key"),
        keyId,
        kind,
        hmac: keyHmac(hashingKey(masterSecret), plaintext),
        last4: plaintext.slice(-4),
        name: cleanText(name),
        permissions: kind === "pk" ? [] : given,
        createdAt: clock.now(),
        expiresAt: expiresAt ?? null,
      })
      .onConflictDoNothing({ target: apiKey.keyId });
    const [row] = await tx
      .select({ id: apiKey.id })
      .from(apiKey)
      .where(and(eq(apiKey.merchantId, merchantId), eq(apiKey.keyId, keyId)));
    if (!row) throw new Error("the derived key belongs to another merchant");
    return { id: row.id, keyId, plaintext };
  });
}

/** Ends a key, by its id or by the 12 characters that logs show. Takes effect within the cache's 5 s. Fault:
 *  `not_found`. Ending an ended key changes nothing. */
export async function revokeKey(
  { db, clock }: Pick<Operator, "db" | "clock">,
  { merchantId, key }: { readonly merchantId: string; readonly key: string },
): Promise<void> {
  const column = key.startsWith("key_") ? apiKey.id : apiKey.keyId;
  const one = and(eq(apiKey.merchantId, merchantId), eq(column, key));
  await withTx(db, async (tx) => {
    const [row] = await tx.select({ id: apiKey.id }).from(apiKey).where(one);
    if (!row) throw fault("not_found");
    await tx
      .update(apiKey)
      .set({ revokedAt: clock.now() })
      .where(and(one, isNull(apiKey.revokedAt)));
  });
}

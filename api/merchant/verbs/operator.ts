import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import { type Database, type Tx, withTx } from "#store";
import type { MerchantRow } from "../present.ts";
import { MerchantInput } from "../schema.ts";
import { merchant } from "../tables.ts";
import type { Actor } from "./audit.ts";
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

function operatorOf({ clock, newId }: Operator): Actor {
  return { keyId: null, newId, now: () => clock.now() };
}

import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { createKey, createMerchant, replaceKey, revokeKey } from "#api";
import { systemRandom } from "#kernel/system";
import type { Database } from "#store";
import { createAuthenticator } from "../../../api/merchant/authenticate.ts";
import { apiKey } from "../../../api/merchant/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { newId, now, recordingLog, clock as stillClock } from "../world.ts";

const masterSecret = "a master secret for tests";
const database = sharedDatabase();
let db: Database;
beforeAll(async () => {
  db = database.db;
});

let elapsedMs = 0;
const clock = { ...stillClock, now: () => new Date(now.getTime() + elapsedMs), monotonicMs: () => elapsedMs };
const operator = () => ({ db, clock, newId, random: systemRandom, masterSecret });
const authenticator = () => createAuthenticator({ db, clock, log: recordingLog(), masterSecret });
const merchant = () => createMerchant(operator(), { name: "Shop", city: "Oslo", countryCode: "NO" });

describe("a merchant", () => {
  it("is created once under an id that is given, with a fee of 0 by default", async () => {
    const id = "mer_01K2C0Z0000000000000000000";
    const first = await createMerchant(operator(), { id, name: "Shop <b>", city: "Oslo", countryCode: "NO" });
    expect(first).toEqual({
      id,
      name: "Shop",
      city: "Oslo",
      countryCode: "NO",
      categoryCode: null,
      taxId: null,
      address: null,
      feeBps: 0,
      allowedOrigins: [],
      rails: [],
      underpaymentToleranceBps: 0,
      spreadBps: 0,
      invoicePrefix: "INV",
      contactEmail: null,
      finalAction: "none",
      timeZone: "UTC",
      refundFees: true,
      brandColour: null,
      logo: null,
      suspendedAt: null,
      suspensionReason: null,
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(
      await createMerchant(operator(), { id, name: "Other", city: "X", countryCode: "US", feeBps: 5 }),
    ).toEqual(first);
  });
});

describe("a key", () => {
  it("tells who asks, and what they may do; the row does not hold it", async () => {
    const { id } = await merchant();
    const { plaintext, keyId } = await createKey(operator(), {
      merchantId: id,
      kind: "sk",
      name: "server",
      permissions: ["x402:manage"],
    });
    const scope = await authenticator()(plaintext);
    expect(scope).toMatchObject({ merchantId: id, keyId, kind: "sk" });
    expect([...(scope?.permissions ?? [])].sort()).toEqual(["x402:manage", "x402:read"]);
    const [row] = await db.pool.select().from(apiKey).where(eq(apiKey.keyId, keyId));
    expect(JSON.stringify(row)).not.toContain(plaintext.slice(15));
    expect(row?.last4).toBe(plaintext.slice(-4));
  });

  it("that is publishable may do nothing", async () => {
    const { id } = await merchant();
    const { plaintext } = await createKey(operator(), {
      merchantId: id,
      kind: "pk",
      name: "shop",
      permissions: ["x402:manage"],
    });
    expect(await authenticator()(plaintext)).toMatchObject({
      merchantId: id,
      kind: "pk",
      permissions: new Set(),
    });
  });

  it("of a seed is the same one again, and nobody else's", async () => {
    const { id } = await merchant();
    const first = await createKey(operator(), {
      merchantId: id,
      kind: "sk",
      name: "demo",
      seed: "demo seed",
    });
    const again = await createKey(operator(), {
      merchantId: id,
      kind: "sk",
      name: "demo",
      seed: "demo seed",
    });
    expect(again).toEqual(first);
    const other = await merchant();
    await expect(
      createKey(operator(), { merchantId: other.id, kind: "sk", name: "demo", seed: "demo seed" }),
    ).rejects.toThrow(/another merchant/);
  });

  it("with a right checksum and another secret is not the key", async () => {
    const { id } = await merchant();
    const { keyId } = await createKey(operator(), { merchantId: id, kind: "sk", name: "server" });
    const { makeKey, readKey } = await import("../../../api/merchant/key.ts");
    const forged = makeKey("sk", systemRandom);
    expect(readKey(forged)).not.toBeNull();
    expect(readKey(forged)?.keyId).not.toBe(keyId);
    expect(await authenticator()(forged)).toBeNull();
    const underAnotherSecret = createAuthenticator({
      db,
      clock,
      log: recordingLog(),
      masterSecret: "another",
    });
    const { plaintext } = await createKey(operator(), { merchantId: id, kind: "sk", name: "server" });
    expect(await underAnotherSecret(plaintext)).toBeNull();
  });

  it("stops at its expiry, and within 5 s of its revocation", async () => {
    const { id } = await merchant();
    const expiresAt = new Date(clock.now().getTime() + 1_000);
    const authenticate = authenticator();
    const expiring = await createKey(operator(), { merchantId: id, kind: "sk", name: "short", expiresAt });
    expect(await authenticate(expiring.plaintext)).not.toBeNull();
    elapsedMs += 1_000;
    expect(await authenticate(expiring.plaintext)).toBeNull();
    const revoked = await createKey(operator(), { merchantId: id, kind: "sk", name: "leaked" });
    expect(await authenticate(revoked.plaintext)).not.toBeNull();
    await revokeKey(operator(), { key: revoked.keyId });
    await revokeKey(operator(), { key: revoked.id });
    elapsedMs += 5_000;
    expect(await authenticate(revoked.plaintext)).toBeNull();
  });

  it("is replaced by one like it, by its id or by what logs show; the old one ends when the grace is over", async () => {
    const { id: merchantId } = await merchant();
    const authenticate = authenticator();
    const old = await createKey(operator(), {
      merchantId,
      kind: "sk",
      name: "server",
      permissions: ["x402:read"],
    });
    const next = await replaceKey(operator(), { key: old.keyId, graceSeconds: 10 });
    expect(next).toMatchObject({ merchantId, plaintext: expect.stringMatching(/^sk_/) });
    expect(await authenticate(next.plaintext)).toMatchObject({
      merchantId,
      permissions: new Set(["x402:read"]),
    });
    expect(await authenticate(old.plaintext)).not.toBeNull();
    elapsedMs += 10_000;
    expect(await authenticate(old.plaintext)).toBeNull();
    await expect(replaceKey(operator(), { key: old.id, graceSeconds: 10 })).rejects.toMatchObject({
      code: "key_revoked",
    });
    await expect(replaceKey(operator(), { key: "nobody", graceSeconds: 0 })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("that was never good here is not looked for while only known ones may be", async () => {
    const { id: merchantId } = await merchant();
    const authenticate = authenticator();
    const { plaintext } = await createKey(operator(), { merchantId, kind: "sk", name: "server" });
    const onlyKnown = { isKnownOnly: true };
    expect(await authenticate(plaintext, onlyKnown)).toBeNull();
    expect(await authenticate(plaintext)).not.toBeNull();
    elapsedMs += 5_000;
    expect(await authenticate(plaintext, onlyKnown)).not.toBeNull();
  });

  it("notes its last use, at most once a minute", async () => {
    const { id } = await merchant();
    const { plaintext, keyId } = await createKey(operator(), { merchantId: id, kind: "sk", name: "server" });
    const authenticate = authenticator();
    const lastUsed = async () =>
      (await db.pool.select().from(apiKey).where(eq(apiKey.keyId, keyId)))[0]?.lastUsedAt;
    await authenticate(plaintext);
    const first = clock.now();
    await vi.waitFor(async () => expect(await lastUsed()).toEqual(first));
    elapsedMs += 30_000;
    await authenticate(plaintext);
    elapsedMs += 31_000;
    await authenticate(plaintext);
    await vi.waitFor(async () => expect(await lastUsed()).toEqual(clock.now()));
  });
});

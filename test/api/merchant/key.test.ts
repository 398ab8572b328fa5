import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { withImplied } from "../../../api/http/permissions.ts";
import { deriveKey, hashingKey, keyHmac, makeKey, readKey, sameHmac } from "../../../api/merchant/key.ts";

describe("a key", () => {
  it("is its prefix, 12 + 32 characters and a checksum of 6", () => {
    const key = makeKey("sk", systemRandom);
    expect(key).toMatch(/^sk_[0-9A-Za-z]{50}$/);
    expect(readKey(key)).toEqual({ kind: "sk", keyId: key.slice(3, 15) });
  });

  it("is never the same twice, unless it is derived from the same seed", () => {
    expect(makeKey("pk", systemRandom)).not.toBe(makeKey("pk", systemRandom));
    expect(deriveKey("sk", "seed")).toBe(deriveKey("sk", "seed"));
    expect(deriveKey("sk", "seed")).not.toBe(deriveKey("sk", "other"));
    expect(deriveKey("sk", "seed").slice(3)).not.toBe(deriveKey("pk", "seed").slice(3));
    expect(readKey(deriveKey("pk", "seed"))?.kind).toBe("pk");
  });

  it("with any one character changed is refused by its checksum alone", () => {
    const key = deriveKey("sk", "seed");
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: key.length - 1 }),
        fc.constantFrom(..."abcXYZ019"),
        (at, other) => {
          fc.pre(key[at] !== other);
          expect(readKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
        },
      ),
    );
    for (const text of ["", "sk_", key.slice(0, -1), `${key}0`, ` ${key}`, key.replace("sk_", "pk_")])
      expect(readKey(text)).toBeNull();
  });

  it("has another HMAC under another master secret", () => {
    const key = deriveKey("sk", "seed");
    const hmac = keyHmac(hashingKey("master"), key);
    expect(sameHmac(hmac, keyHmac(hashingKey("master"), key))).toBe(true);
    expect(sameHmac(hmac, keyHmac(hashingKey("another"), key))).toBe(false);
    expect(hmac).not.toContain(Buffer.from(key).toString("hex"));
  });
});

describe("permissions", () => {
  it("to change imply the ones to read, where there are such", () => {
    expect([...withImplied(["x402:manage", "payments:write", "refunds:write"])].sort()).toEqual([
      "payments:read",
      "payments:write",
      "refunds:write",
      "x402:manage",
      "x402:read",
    ]);
    expect(withImplied(["x402:read"]).has("x402:manage")).toBe(false);
  });
});

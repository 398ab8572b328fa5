import { describe, expect, it } from "vitest";
import { deriveDepositSeed, deriveKey } from "../../src/keys.ts";

const secret = "ab".repeat(32);

describe("deriveKey", () => {
  it("is the same for the same secret and label, and no other", () => {
    const keys = [
      deriveKey(secret, "payer"),
      deriveKey(secret, "operator"),
      deriveKey(secret, "signer:0"),
      deriveKey(secret, "signer:1"),
      deriveKey("cd".repeat(32), "payer"),
    ];
    expect(new Set(keys).size).toBe(5);
    expect(deriveKey(`0x${secret.toUpperCase()}`, "payer")).toBe(keys[0]);
    for (const key of keys) expect(key).toMatch(/^0x[0-9a-f]{64}$/);
  });
});

describe("deriveDepositSeed", () => {
  it("is 64 bytes, the same for the same secret, and no other", () => {
    const seed = deriveDepositSeed(secret);
    expect(seed).toHaveLength(64);
    expect(deriveDepositSeed(`0x${secret}`)).toEqual(seed);
    expect(deriveDepositSeed("cd".repeat(32))).not.toEqual(seed);
  });
});

describe("what money hangs on", () => {
  it("never changes: another operator orphans the router, another seed the deposits", () => {
    const text = "the master secret of an outside deployment";
    expect([deriveKey(text, "operator"), Buffer.from(deriveDepositSeed(text)).toString("hex")]).toEqual([
      "0x26523a2e5dd0c7eaa6297d351877c08528a206f025b792c65fa3b4003d7d12fc",
      "fb9b4b1dfce572de0597fe2db11969ec94d318dc5eaeacbc69561afbe6c743ae23d95cdd6cc0cdbfe12231e7d516f883b333014d72e9c6f63f361be0fde61369",
    ]);
  });
});

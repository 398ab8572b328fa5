import { createRequire } from "node:module";
import fc from "fast-check";
import { keccak256, recoverAddress } from "viem";
import { sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { hash, toBytes } from "#kernel/bytes";
import { curveIsNative, loadCurve, recover } from "../../../../facilitator/scheme/exact-evm/curve.ts";
import { anyHash, curveOrder } from "../samples.ts";

const broken = () => {
  throw new Error("no compiled binding");
};
const compiled = loadCurve();
const fallback = loadCurve(broken);
const digest = hash(`0x${"5c".repeat(32)}`);

function rs(r: bigint, s: bigint): Buffer {
  return Buffer.from([r, s].map((value) => value.toString(16).padStart(64, "0")).join(""), "hex");
}

describe("the choice of a curve implementation", () => {
  it("says native exactly when the compiled binding loads", () => {
    const require = createRequire(import.meta.url);
    let loads = true;
    try {
      require("secp256k1/bindings");
    } catch {
      loads = false;
    }
    expect(compiled.native).toBe(loads);
    expect(curveIsNative()).toBe(loads);
  });

  it("falls back, and says so, when the binding does not load", () => {
    expect(fallback.native).toBe(false);
  });

  it("falls back when the binding answers the test vector wrongly", () => {
    const curve = loadCurve(() => () => new Uint8Array(65).fill(4));
    expect(curve.native).toBe(false);
  });

  it("falls back when the binding ignores the recovery bit", () => {
    const require = createRequire(import.meta.url);
    const real = require("secp256k1") as typeof import("secp256k1/bindings");
    const deaf = loadCurve(() => (bytes, signature) => real.ecdsaRecover(signature, 1, bytes, false));
    expect(deaf.native).toBe(false);
  });
});

describe.each([
  ["the process's curve", { recover }],
  ["the fallback", fallback],
])("%s", (_name, curve) => {
  it("recovers whom viem recovers, for any digest, key and parity", async () => {
    await fc.assert(
      fc.asyncProperty(anyHash, anyHash, fc.constantFrom(0, 1), async (anyDigest, seed, parity) => {
        const { r, s } = await sign({ hash: anyDigest, privateKey: keccak256(seed) });
        const expected = await recoverAddress({ hash: anyDigest, signature: { r, s, yParity: parity } });
        const signature = Buffer.concat([toBytes(hash(r)), toBytes(hash(s))]);
        expect(curve.recover(anyDigest, signature, parity === 0 ? 0 : 1)).toBe(expected.toLowerCase());
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ["r is zero", rs(0n, 1n)],
    ["s is zero", rs(1n, 0n)],
    ["r is the curve's order", rs(curveOrder, 1n)],
    ["s is the curve's order", rs(1n, curveOrder)],
    ["all bits are set", Buffer.alloc(64, 0xff)],
    ["r is no x-coordinate of the curve", rs(5n, 1n)],
  ])("finds nobody when %s", (_case, signature) => {
    expect(curve.recover(digest, signature, 0)).toBe(null);
    expect(curve.recover(digest, signature, 1)).toBe(null);
  });

  it("finds nobody behind a signature of the wrong length", () => {
    expect(curve.recover(digest, Buffer.alloc(63, 1), 0)).toBe(null);
    expect(curve.recover(digest, Buffer.alloc(65, 1), 0)).toBe(null);
  });
});

it("both implementations agree on any 64 bytes", () => {
  const bytes = fc.uint8Array({ minLength: 64, maxLength: 64 });
  fc.assert(
    fc.property(anyHash, bytes, (anyDigest, signature) => {
      expect(compiled.recover(anyDigest, signature, 1)).toBe(fallback.recover(anyDigest, signature, 1));
    }),
    { numRuns: 50 },
  );
});

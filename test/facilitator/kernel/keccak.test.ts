import fc from "fast-check";
import { keccak256 as viemKeccak256 } from "viem";
import { describe, expect, it } from "vitest";
import { fromBytes } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";

describe("keccak256", () => {
  it("is what another implementation makes of any bytes, one after the other", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1 }), (all) => {
        expect(all.map((bytes) => fromBytes(keccak256(bytes)))).toEqual(
          all.map((bytes) => viemKeccak256(bytes)),
        );
      }),
    );
  });

  it("keeps what it gave: a later hash writes over none", () => {
    const first = keccak256(Buffer.from("one"));
    const copy = Buffer.from(first);
    keccak256(Buffer.from("two"));
    expect(Buffer.from(first)).toEqual(copy);
  });
});

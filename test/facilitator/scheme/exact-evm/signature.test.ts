import fc from "fast-check";
import { compactSignatureToSignature, serializeSignature } from "viem";
import { describe, expect, it } from "vitest";
import { fromBytes, type Hex, toBytes } from "#kernel/bytes";
import { signatureForm } from "../../../../facilitator/scheme/exact-evm/signature.ts";
import { curveOrder, formsOf, sign, unsigned } from "../samples.ts";

const forms = formsOf(await sign(unsigned));
const parts = { rs: toBytes(forms.canonical).subarray(0, 64), recovery: forms.recovery };

describe("the form of a signature", () => {
  it.each(["canonical", "bare", "compact"] as const)("%s: widens to 65 bytes with v 27 or 28", (name) => {
    expect(signatureForm(forms[name])).toEqual({ kind: "key", widened: forms.canonical, ...parts });
  });

  it("widens any compact signature as viem does", () => {
    const half = curveOrder / 2n;
    const anyCompact = fc.record({
      r: fc.bigInt({ min: 1n, max: curveOrder - 1n }),
      s: fc.bigInt({ min: 1n, max: half }),
      parity: fc.constantFrom(0n, 1n),
    });
    fc.assert(
      fc.property(anyCompact, ({ r: rValue, s, parity }) => {
        const word = (value: bigint) => value.toString(16).padStart(64, "0");
        const r: Hex = `0x${word(rValue)}`;
        const yParityAndS: Hex = `0x${word(s | (parity << 255n))}`;
        const expected = serializeSignature(compactSignatureToSignature({ r, yParityAndS }));
        const compact: Hex = `${r}${word(s | (parity << 255n))}`;
        expect(signatureForm(compact)).toMatchObject({ kind: "key", widened: expected });
      }),
    );
  });

  it.each([
    ["27 or 28", 27],
    ["0 or 1", 0],
  ])("refuses a high s with v %s", (_name, base) => {
    const high = formsOf(forms.high);
    const answer = signatureForm(high.full(base + high.recovery));
    expect(answer).toMatchObject({ kind: "refused", refusal: { reason: "invalid_exact_evm_signature" } });
  });

  it("takes the largest low s and refuses the next, in both lengths", () => {
    const half = curveOrder / 2n;
    const withS = (s: bigint): Hex => `0x${"11".repeat(32)}${s.toString(16).padStart(64, "0")}`;
    expect(signatureForm(withS(half)).kind).toBe("key");
    expect(signatureForm(withS(half + 1n)).kind).toBe("refused");
    expect(signatureForm(`${withS(half)}1b`).kind).toBe("key");
    expect(signatureForm(`${withS(half + 1n)}1b`).kind).toBe("refused");
  });

  it("leaves 65 bytes with any other v to a contract wallet", () => {
    for (let v = 0; v < 256; v++) {
      const isKeys = [0, 1, 27, 28].includes(v);
      expect(signatureForm(forms.full(v)).kind).toBe(isKeys ? "key" : "opaque");
    }
  });

  it("leaves every length but 64 and 65 bytes to a contract wallet", () => {
    for (const length of [1, 32, 63, 66, 96, 130, 1_000]) {
      expect(signatureForm(fromBytes(Buffer.alloc(length, 1)))).toEqual({ kind: "opaque" });
    }
  });

  it.each([0, 1, 32, 33, 64, 160])("refuses an ERC-6492 wrapper around %i bytes", (length) => {
    const wrapped: Hex = `0x${"00".repeat(length)}${"6492".repeat(16)}`;
    expect(signatureForm(wrapped)).toMatchObject({
      kind: "refused",
      refusal: { reason: "eip6492_factory_not_allowed" },
    });
  });
});

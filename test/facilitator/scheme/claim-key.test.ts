import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { address, checksum, hash } from "#kernel/bytes";
import { exactEvm } from "../../../facilitator/scheme/exact-evm/exact-evm.ts";
import { claimKey, fingerprint } from "../../../facilitator/scheme/index.ts";
import { anyAddress, anyHash, anyUnsigned, domain, formsOf, payloadOf, sign, unsigned } from "./samples.ts";

const token = domain.verifyingContract;
const keyParts = { chainId: 31_337, nonceDomain: token, payer: unsigned.payer, nonce: unsigned.nonce };

describe("the claim key", () => {
  it("is the hash of a label and fixed-width parts", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        anyAddress,
        anyAddress,
        anyHash,
        (chainId, nonceDomain, payer, nonce) => {
          const bytes =
            chainId.toString(16).padStart(64, "0") + nonceDomain.slice(2) + payer.slice(2) + nonce.slice(2);
          const expected = createHash("sha256").update("farebox/claim/v1").update(bytes, "hex").digest("hex");
          expect(claimKey({ chainId, nonceDomain, payer, nonce })).toBe(`0x${expected}`);
        },
      ),
    );
  });

  it("is one for every form of the signature and every letter case", async () => {
    const { canonical, bare, compact, high } = formsOf(await sign(unsigned));
    const forms = [canonical, bare, compact, high, `${canonical}${"6492".repeat(16)}`, "0x00"];
    const keys = forms.flatMap((signature) => {
      const payload = payloadOf(unsigned, signature);
      const upper = `0x${payload.authorization.nonce.slice(2).toUpperCase()}`;
      const shouted = { ...payload.authorization, from: checksum(unsigned.payer), nonce: upper };
      return [payload, { ...payload, authorization: shouted }].map(keyOf);
    });
    expect(new Set(keys)).toEqual(new Set([claimKey(keyParts)]));
  });

  it("changes with each part", () => {
    const keys = [
      keyParts,
      { ...keyParts, chainId: 31_338 },
      { ...keyParts, nonceDomain: unsigned.payTo },
      { ...keyParts, payer: unsigned.payTo },
      { ...keyParts, nonce: hash(`0x${"a8".repeat(32)}`) },
    ].map(claimKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  function keyOf(payload: unknown): string {
    const read = exactEvm.read(payload);
    if ("reason" in read) throw new Error(read.message);
    return claimKey({
      chainId: 31_337,
      nonceDomain: exactEvm.nonceDomain(token),
      payer: read.payer,
      nonce: read.nonce,
    });
  }
});

describe("the fingerprint", () => {
  const terms = { authorization: unsigned, payableId: "x402r_1", token, chainId: 31_337 };

  it("is one for equal terms, whatever the signature", () => {
    fc.assert(
      fc.property(anyUnsigned, anyHash, (authorization, signature) => {
        const signed = { ...authorization, signature };
        expect(fingerprint({ ...terms, authorization: signed })).toBe(
          fingerprint({ ...terms, authorization }),
        );
      }),
    );
  });

  it("changes with every signed field, the payable, the token and the chain", () => {
    const other = address(`0x${"22".repeat(20)}`);
    const changed = [
      { ...unsigned, payer: other },
      { ...unsigned, payTo: other },
      { ...unsigned, value: unsigned.value + 1n },
      { ...unsigned, validAfter: 1n },
      { ...unsigned, validBefore: unsigned.validBefore + 1n },
      { ...unsigned, nonce: hash(`0x${"a8".repeat(32)}`) },
    ].map((authorization) => ({ ...terms, authorization }));
    const prints = [
      terms,
      ...changed,
      { ...terms, payableId: "x402r_2" },
      { ...terms, token: other },
      { ...terms, chainId: 1 },
    ].map(fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
  });
});

import fc from "fast-check";
import { encodeFunctionData, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { fromBytes, type Hex } from "#kernel/bytes";
import { exactEvm } from "../../../../facilitator/scheme/exact-evm/exact-evm.ts";
import { anyAddress, anyUnsigned, domain, formsOf, sign, type Unsigned, unsigned } from "../samples.ts";

const token = domain.verifyingContract;
const signedFields =
  "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce";
const keyAbi = parseAbi([
  `function transferWithAuthorization(${signedFields}, uint8 v, bytes32 r, bytes32 s)`,
]);
const bytesAbi = parseAbi([`function transferWithAuthorization(${signedFields}, bytes signature)`]);

function signedArgs({ payer, payTo, value, validAfter, validBefore, nonce }: Unsigned) {
  return [payer, payTo, value, validAfter, validBefore, nonce] as const;
}
function keyCallByViem(authorization: Unsigned, signature: Hex) {
  const word = (at: number): Hex => `0x${signature.slice(2 + 64 * at, 66 + 64 * at)}`;
  const v = Number.parseInt(signature.slice(130), 16);
  return encodeFunctionData({ abi: keyAbi, args: [...signedArgs(authorization), v, word(0), word(1)] });
}

describe("the call for a payer without code", () => {
  it("is what viem encodes for v, r and s, for any authorization", async () => {
    const signature = await sign(unsigned);
    fc.assert(
      fc.property(anyAddress, anyUnsigned, (to, authorization) => {
        expect(exactEvm.call(to, { ...authorization, signature }, false)).toEqual({
          to,
          data: keyCallByViem(authorization, signature),
        });
      }),
    );
  });

  it("is the same whatever form the signature came in", async () => {
    const { canonical, bare, compact } = formsOf(await sign(unsigned));
    const expected = { to: token, data: keyCallByViem(unsigned, canonical) };
    for (const signature of [canonical, bare, compact]) {
      expect(exactEvm.call(token, { ...unsigned, signature }, false)).toEqual(expected);
    }
  });

  it("is never made of a signature that no key made", () => {
    expect(() => exactEvm.call(token, { ...unsigned, signature: "0x1234" }, false)).toThrow(
      /signature of a key/,
    );
  });
});

describe("the call for a payer with code", () => {
  it("is what viem encodes for bytes, whatever the signature's length", () => {
    const anySignature = fc.uint8Array({ minLength: 1, maxLength: 300 }).map(fromBytes);
    fc.assert(
      fc.property(anyUnsigned, anySignature, (authorization, signature) => {
        const data = encodeFunctionData({ abi: bytesAbi, args: [...signedArgs(authorization), signature] });
        expect(exactEvm.call(token, { ...authorization, signature }, true)).toEqual({ to: token, data });
      }),
    );
  });
});

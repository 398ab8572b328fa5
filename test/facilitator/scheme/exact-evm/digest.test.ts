import fc from "fast-check";
import { hashTypedData } from "viem";
import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { transferDigest } from "../../../../facilitator/scheme/exact-evm/digest.ts";
import { anyDomain, anyUnsigned, domain, typedData, unsigned } from "../samples.ts";

const signature = "0x00";

function digestByViem(over: typeof domain, authorization: typeof unsigned) {
  return hashTypedData(typedData(over, authorization));
}

describe("the digest of a TransferWithAuthorization", () => {
  it("equals viem's for any authorization and any domain", () => {
    fc.assert(
      fc.property(anyDomain, anyUnsigned, (over, authorization) => {
        expect(transferDigest(over, { ...authorization, signature })).toBe(digestByViem(over, authorization));
      }),
    );
  });

  it("is not confused by a domain seen before that differs in one field", () => {
    const variants = [
      domain,
      { ...domain, name: "USD Coin2", version: "" },
      { ...domain, name: "2USD Coin" },
      { ...domain, version: "22" },
      { ...domain, name: 'USD Coin","2' },
      { ...domain, chainId: 84_532 },
      { ...domain, verifyingContract: address(`0x${"11".repeat(20)}`) },
    ];
    const digests = variants.map((over) => transferDigest(over, { ...unsigned, signature }));
    expect(digests).toEqual(variants.map((over) => digestByViem(over, unsigned)));
    expect(new Set(digests).size).toBe(variants.length);
  });

  it("stays right when more domains were seen than are kept", () => {
    for (let chainId = 1; chainId <= 1_100; chainId++) {
      transferDigest({ ...domain, chainId }, { ...unsigned, signature });
    }
    expect(transferDigest(domain, { ...unsigned, signature })).toBe(digestByViem(domain, unsigned));
  });
});

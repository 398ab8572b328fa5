/** Scheme data as a wallet signs it: with viem, foreign to the code under test. */
import { checksum } from "#kernel/bytes";
import { type AuthorizationTerms, authorize } from "../support/authorization.ts";
import type { Payer } from "../support/house.ts";

export type Terms = Omit<AuthorizationTerms, "key">;

/** What stands under `payload` of a payment, in either version. Valid for five minutes by the wall unless told
 *  otherwise. */
export async function signedBy(payer: Payer, terms: Terms) {
  const { validAfter = 0n, validBefore = BigInt(Math.floor(Date.now() / 1000) + 300) } = terms;
  const signed = await authorize({ ...terms, key: payer.key, validAfter, validBefore });
  return {
    signature: signed.signature as string,
    authorization: {
      from: checksum(terms.from ?? payer.address),
      to: terms.to,
      value: terms.value.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      nonce: signed.nonce as string,
    },
  };
}

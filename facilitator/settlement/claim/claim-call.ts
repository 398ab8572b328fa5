import type { AuthorizationRead, Call } from "../../chain/port.ts";
import { schemeFor } from "../../scheme/index.ts";
import type { SentClaim } from "./claim-parts.ts";

/** The call that carries a claim out. */
export function callOf(claim: SentClaim): Call {
  const scheme = schemeFor("exact", "eip155");
  if (!scheme) throw new Error("the scheme of a stored claim is gone");
  return scheme.call(
    claim.token,
    { ...claim, value: claim.amount, signature: claim.signature },
    claim.payerHasCode,
  );
}

/** The same, with what the chain is asked about it. */
export function readOf(claim: SentClaim): AuthorizationRead {
  return { token: claim.token, payer: claim.payer, nonce: claim.nonce, transfer: callOf(claim) };
}

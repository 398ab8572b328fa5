import type { TokenDomain } from "../../chain/port.ts";
import type { Authorization, Scheme, SignatureVerdict } from "../port.ts";
import { bytesCall, keyCall } from "./call.ts";
import { recover } from "./curve.ts";
import { transferDigest } from "./digest.ts";
import { readPayload } from "./schema.ts";
import { signatureForm } from "./signature.ts";

/** The scheme `exact` on EVM chains, by EIP-3009: the payer signs, the token moves exactly that amount. */
export const exactEvm: Scheme = {
  scheme: "exact",
  family: "eip155",
  nonceDomain: (token) => token,
  read: readPayload,
  digest: transferDigest,
  checkSignature,
  call: (token, authorization, payerHasCode) =>
    payerHasCode ? bytesCall(token, authorization) : keyCall(token, authorization),
};

function checkSignature(domain: TokenDomain, authorization: Authorization): SignatureVerdict {
  const form = signatureForm(authorization.signature);
  if (form.kind === "refused") return form;
  const digest = transferDigest(domain, authorization);
  const isPayers = form.kind === "key" && recover(digest, form.rs, form.recovery) === authorization.payer;
  return isPayers ? { kind: "recovered", signature: form.widened } : { kind: "contract-or-forged", digest };
}

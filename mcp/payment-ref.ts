import type { Facilitator, PaymentRef, SignedRef } from "#facilitator";
import { parseAddress, parseHash } from "#kernel/bytes";
import { isId } from "#kernel/id";
import type { Members, ReadPayment } from "./deps.ts";

/** How a caller names a payment: all members of one of the three ways. */
interface Named {
  readonly paymentId?: string | undefined;
  readonly network?: string | undefined;
  readonly asset?: string | undefined;
  readonly payer?: string | undefined;
  readonly nonce?: string | undefined;
  readonly transaction?: string | undefined;
}
interface BadArgument {
  readonly name: string;
  /** Without a full stop. */
  readonly why: string;
}
type Networks = Pick<Facilitator, "chains">;

/** Which payment is meant, or what is wrong with its name: who mistypes one and is told that nothing was recorded would
 *  pay twice. */
export function paymentRefOf(facilitator: Networks, named: Named): PaymentRef | BadArgument {
  const { paymentId, network = "", payer = "", nonce, transaction = "" } = named;
  if (paymentId !== undefined)
    return isId("stl", paymentId)
      ? { by: "id", paymentId }
      : { name: "paymentId", why: "not an id of a payment, which is stl_ and 26 characters" };
  const asset = contractOf(facilitator, named);
  return (
    networkProblem(facilitator, network) ??
    (nonce === undefined ? null : addressProblem("asset", asset)) ??
    addressProblem("payer", payer) ??
    (nonce === undefined ? hashProblem("transaction", transaction) : hashProblem("nonce", nonce)) ??
    (nonce === undefined
      ? { by: "transaction", network, transaction, payer }
      : { by: "nonce", network, asset, payer, nonce })
  );
}

/** A token may be named by its symbol too. */
function contractOf(facilitator: Networks, { network, asset = "" }: Named): string {
  const served = facilitator.chains().find((chain) => chain.network === network);
  return served?.tokens.find((token) => token.asset === asset)?.contract ?? asset;
}

function networkProblem(facilitator: Networks, network: string): BadArgument | null {
  const served = facilitator.chains().map((chain) => chain.network);
  if (served.some((one) => one === network)) return null;
  return { name: "network", why: `not served here, or not in CAIP-2. Served: ${served.join(", ")}` };
}

function addressProblem(name: string, text: string): BadArgument | null {
  if (parseAddress(text)) return null;
  const isMistyped = parseAddress(text.toLowerCase()) !== null;
  const why = isMistyped
    ? "its checksum (EIP-55) is wrong, so a character may be"
    : "not an address, which is 0x and 40 digits of hex";
  return { name, why };
}

function hashProblem(name: string, text: string): BadArgument | null {
  return parseHash(text) ? null : { name, why: "not 32 bytes of hex, which is 0x and 64 digits" };
}

/** What was signed in a payment; null where it does not say. */
export function signedOf({ selection, payer, payload }: ReadPayment): SignedRef | null {
  const { network, asset } = selection;
  const { nonce } = ((payload as Members).authorization ?? {}) as Members;
  return payer === null || typeof nonce !== "string" ? null : { network, asset, payer, nonce };
}

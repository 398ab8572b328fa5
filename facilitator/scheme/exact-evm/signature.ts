import { fromBytes, type Hex, toBytes } from "#kernel/bytes";
import type { Refusal } from "../reasons.ts";
import type { Recovery } from "./curve.ts";

/** What the bytes of a signature look like. `widened`: r, s and v 27 or 28, whatever form it came in. `opaque`: no
 *  key's signature, so only the code of a contract wallet can read it. */
export type SignatureForm =
  | { readonly kind: "key"; readonly widened: Hex; readonly rs: Uint8Array; readonly recovery: Recovery }
  | { readonly kind: "opaque" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

const HALF_ORDER = toBytes("0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");
const COUNTERFACTUAL = "6492".repeat(16);

/** Sorts a signature by its form; no curve arithmetic. The forms of one signature widen to the same bytes: 65 bytes
 *  with v 0, 1, 27 or 28, and 64 bytes with the parity in the top bit of s (ERC-2098). Refused: the upper of the two
 *  possible s, which tokens refuse too, and ERC-6492, whose factory call would leave from our gas key.
 *  Source: settlement.md §7, §8. */
export function signatureForm(signature: Hex): SignatureForm {
  if (signature.endsWith(COUNTERFACTUAL)) return refused(counterfactual);
  const bytes = toBytes(signature);
  const parts = bytes.length === 64 ? splitCompact(bytes) : bytes.length === 65 ? splitFull(bytes) : null;
  if (!parts) return { kind: "opaque" };
  const { rs, recovery } = parts;
  if (HALF_ORDER.compare(rs, 32) < 0) return refused(highS);
  return { kind: "key", widened: `${fromBytes(rs)}${recovery === 0 ? "1b" : "1c"}`, rs, recovery };
}

interface Parts {
  readonly rs: Buffer;
  readonly recovery: Recovery;
}

function splitCompact(bytes: Buffer): Parts {
  const rs = Buffer.from(bytes);
  const top = rs.readUInt8(32);
  rs.writeUInt8(top & 0x7f, 32);
  return { rs, recovery: top & 0x80 ? 1 : 0 };
}

function splitFull(bytes: Buffer): Parts | null {
  const rs = bytes.subarray(0, 64);
  const v = bytes.readUInt8(64);
  if (v === 0 || v === 27) return { rs, recovery: 0 };
  return v === 1 || v === 28 ? { rs, recovery: 1 } : null;
}

function refused(refusal: Refusal): SignatureForm {
  return { kind: "refused", refusal };
}

const highS: Refusal = {
  reason: "invalid_exact_evm_signature",
  message: "The signature's s is above half the curve order, which tokens refuse; sign again with a low s.",
};
const counterfactual: Refusal = {
  reason: "eip6492_factory_not_allowed",
  message:
    "The signature is wrapped for a wallet that is not deployed (ERC-6492); deploy the wallet, then sign without the wrapper.",
};

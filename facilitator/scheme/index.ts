import { exactEvm } from "./exact-evm/exact-evm.ts";
import type { Scheme } from "./port.ts";

export { claimKey, fingerprint } from "./claim-key.ts";
export { curveIsNative } from "./exact-evm/curve.ts";
export { signerOf, textDigest } from "./signed-text.ts";

/** Every scheme on every chain family that can be paid with: one row each. */
const schemes: readonly Scheme[] = [exactEvm];

/** The scheme of that name on that family of chains (`eip155` in `eip155:8453`); null when it is not offered. */
export function schemeFor(scheme: string, family: string): Scheme | null {
  return schemes.find((row) => row.scheme === scheme && row.family === family) ?? null;
}

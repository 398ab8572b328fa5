import { createRequire } from "node:module";
import { secp256k1 as noble } from "@noble/curves/secp256k1";
import { type Address, address, fromBytes, type Hash, hash, toBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { keccak256 } from "#kernel/keccak";

/** Which of the two public keys with the signature's x-coordinate signed. */
export type Recovery = 0 | 1;

export interface Curve {
  /** Whether the compiled library is in use; without it every check costs some 25 times as much. */
  readonly native: boolean;
  /** The account that signed `digest`; null when no key could have made these 64 bytes (r then s). */
  recover(digest: Hash, signature: Uint8Array, recovery: Recovery): Address | null;
}

/** 65 bytes: 0x04, x, y. Throws where there is no key. */
type RecoverKey = (digest: Uint8Array, signature: Uint8Array, recovery: Recovery) => Uint8Array;

// One signature and both its keys: an implementation that ignores `recovery` cannot pass.
const VECTOR = {
  digest: hash("0xbd79c4ad64f6b874ed58eb0778d10b950839247d462f5eb839924fb5e078cf4a"),
  signature: toBytes(
    "0x0be503e8abb7e93c30dcf06e0c6e505afd6267da174aa436bf4eb9edbb3125227c81ec86b0401b7d2e113962fd803b715772c0e5d2164360e4bb95599a3a430d",
  ),
  signers: [
    address("0xfa8c68a0322e3ce6f810bff34153a8ae5d2ed628"),
    address("0x7d95b3bf50b94484262ee559f81d1056ca3790e3"),
  ],
} as const;

const curve = loadCurve();

/** The account behind a signature, by the process's curve; see `Curve`. */
export const recover = curve.recover;

/** Whether this process recovers signatures with compiled code. Boot warns when not. */
export function curveIsNative(): boolean {
  return curve.native;
}

/** Picks the compiled library where it loads and answers the test vector rightly, else the JavaScript one, which must
 *  answer it too: throws if neither does. */
export function loadCurve(loadNative: () => RecoverKey = nativeRecoverKey): Curve {
  const native = attempt(loadNative);
  if (native) {
    const curve = curveOf(native, true);
    if (answersRightly(curve)) return curve;
  }
  const fallback = curveOf(nobleRecoverKey, false);
  assert(answersRightly(fallback), "no secp256k1 implementation recovers the test vector");
  return fallback;
}

function curveOf(recoverKey: RecoverKey, isNative: boolean): Curve {
  return {
    native: isNative,
    recover(digest, signature, recovery) {
      const key = attempt(() => recoverKey(toBytes(digest), signature, recovery));
      return key && (fromBytes(keccak256(key.subarray(1)).subarray(12)) as Address);
    },
  };
}

function answersRightly({ recover: recoverSigner }: Curve): boolean {
  const nobody = Buffer.alloc(64);
  return (
    recoverSigner(VECTOR.digest, VECTOR.signature, 0) === VECTOR.signers[0] &&
    recoverSigner(VECTOR.digest, VECTOR.signature, 1) === VECTOR.signers[1] &&
    recoverSigner(VECTOR.digest, nobody, 0) === null
  );
}

/** Throws where no compiled binding is found. The package's own entry would fall back to slow JavaScript in silence,
 *  so the binding itself is asked for. */
function nativeRecoverKey(): RecoverKey {
  const require = createRequire(import.meta.url);
  const { ecdsaRecover } = require("secp256k1/bindings") as typeof import("secp256k1/bindings");
  return (digest, signature, recovery) => ecdsaRecover(signature, recovery, digest, false);
}

function nobleRecoverKey(digest: Uint8Array, signature: Uint8Array, recovery: Recovery): Uint8Array {
  return noble.Signature.fromCompact(signature)
    .addRecoveryBit(recovery)
    .recoverPublicKey(digest)
    .toRawBytes(false);
}

/** Both libraries throw where there is nothing to find; here that is an answer. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

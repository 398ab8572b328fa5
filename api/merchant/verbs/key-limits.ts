import type { MerchantScope } from "../../http/context.ts";
import { isPartOf } from "../../http/network.ts";
import type { KeyRow } from "../present.ts";

/** From where a key works and until when; null is everywhere and for ever. */
export type KeyLimits = Pick<KeyRow, "kind" | "allowedIps" | "expiresAt">;
/** How a key would reach further than another one. */
interface Excess {
  /** To the member of a request that asks for it. */
  readonly pointer: string;
  readonly why: string;
}

/** What a new key is limited to where it asks for nothing: as the key that makes it. A publishable key is for payers'
 *  browsers, so the addresses of a server do not bind it. */
export function inheritedLimits(maker: MerchantScope, kind: KeyLimits["kind"]): KeyLimits {
  return { kind, allowedIps: kind === "sk" ? maker.allowedIps : null, expiresAt: maker.expiresAt };
}

/** How a key with these limits would reach further than the one that makes it; null where it does not. */
export function excessOf(limits: KeyLimits, maker: MerchantScope): Excess | null {
  return addressesBeyond(limits, maker) ?? timeBeyond(limits, maker);
}

function addressesBeyond({ kind, allowedIps }: KeyLimits, maker: MerchantScope): Excess | null {
  const bounds = maker.allowedIps;
  if (kind === "pk" || bounds === null) return null;
  if (allowedIps === null)
    return { pointer: "/allowedIps", why: "the new one would have no allowedIps and work from everywhere" };
  const at = allowedIps.findIndex((network) => !isPartOf(network, bounds));
  if (at < 0) return null;
  return { pointer: `/allowedIps/${at}`, why: `${allowedIps[at]} is not within its allowedIps` };
}

function timeBeyond({ expiresAt }: KeyLimits, maker: MerchantScope): Excess | null {
  const end = maker.expiresAt;
  if (end === null || (expiresAt !== null && expiresAt <= end)) return null;
  return { pointer: "/expiresAt", why: `its expiresAt is ${end.toISOString()}` };
}

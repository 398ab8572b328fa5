import type { ChainFacts, Facilitator, SignedRef } from "#facilitator";
import { parseAddress } from "#kernel/bytes";
import { v1Networks } from "./v1.ts";
import { membersOf } from "./wire.ts";

/** What a payment is meant for, where it is sent to something that is paid by intents of its own. */
export interface Meant {
  /** The intent that it names as its resource. */
  readonly named: string | null;
  /** What its authorization is bound to since it was claimed; not asked where it names an intent. */
  readonly bound: string | null;
}

type Claims = Pick<Facilitator, "chains" | "boundTo">;

const IN_AGENT_URL = /\/x402\/payables\/(pi_[0-9A-Z]{26})$/;

/** Payments that name no intent, as v1's never do, are known again by their authorization. Source: x402.md §12. */
export async function meantBy(claims: Claims, payload: unknown): Promise<Meant> {
  const { url = "" } = membersOf(membersOf(payload).resource);
  const named = IN_AGENT_URL.exec(String(url))?.[1] ?? null;
  return { named, bound: named === null ? await boundTo(claims, payload) : null };
}

/** What a payment was claimed for; null for one that is new or cannot be read. */
async function boundTo(claims: Claims, payload: unknown): Promise<string | null> {
  const refs = signedRefs(payload, claims.chains());
  const found = await Promise.all(refs.map((ref) => claims.boundTo(ref)));
  return found.find((id) => id !== null) ?? null;
}

/** v1's payload names no token: the authorization may be of any on its network. */
function signedRefs(payload: unknown, chains: readonly ChainFacts[]): readonly SignedRef[] {
  const { x402Version, network: v1Name, accepted, payload: signed } = membersOf(payload);
  const { from, nonce } = membersOf(membersOf(signed).authorization);
  if (typeof from !== "string" || typeof nonce !== "string") return [];
  const { network, asset } =
    x402Version === 1
      ? { network: v1Networks(chains).toCaip2(String(v1Name)), asset: undefined }
      : membersOf(accepted);
  const served = chains.find((chain) => chain.network === network);
  if (!served) return [];
  return served.tokens
    .filter(({ contract }) => asset === undefined || parseAddress(contract) === parseAddress(asset))
    .map(({ contract }) => ({ network: served.network, asset: contract, payer: from, nonce }));
}

import { and, eq } from "drizzle-orm";
import type { Address, Hash, Hex } from "#kernel/bytes";
import { outageOf, type Tx } from "#store";
import type { BlockRef, LiveRail } from "../../chain/port.ts";
import { isTaken } from "../../chain/rails.ts";
import { claimKey, fingerprint, schemeFor } from "../../scheme/index.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { chainBlock, observer } from "../observer/tables.ts";
import type { NewClaim } from "./claim.ts";
import type { ClaimKind } from "./state.ts";

/** Money of ours that moves by an authorization of ours. Amount in atomic units of the rail's token. */
interface OwnPayment {
  readonly kind: Exclude<ClaimKind, "x402">;
  readonly merchantId: string;
  /** What it carries out. */
  readonly payableId: string;
  readonly payer: Address;
  readonly payTo: Address;
  readonly amount: bigint;
  /** Follows from what it carries out, so the token itself refuses a second one. */
  readonly nonce: Hash;
  /** Seconds, by the chain's time. */
  readonly validBefore: bigint;
  /** As the payer. */
  readonly sign: (digest: Hash) => Promise<Hex>;
}

/** What a claim of ours would be found by, signed or not. */
export function ownClaimKey(
  chainId: number,
  { token, payer, nonce }: Record<"token" | "payer", Address> & { readonly nonce: Hash },
): Hash {
  return claimKey({ chainId, nonceDomain: ownScheme().nonceDomain(token), payer, nonce });
}

function ownScheme() {
  const scheme = schemeFor("exact", "eip155");
  if (!scheme) throw new Error("the scheme of our own payments is gone");
  return scheme;
}

/** The signed authorization as a claim that the lanes send like any payment. Touches no row. */
export async function signClaim(
  engine: Engine,
  { chain }: Pick<OpenChain, "chain">,
  { token: { contract: token }, domain }: LiveRail,
  { kind, merchantId, payableId, payer, payTo, amount, nonce, validBefore, sign }: OwnPayment,
): Promise<NewClaim> {
  const scheme = ownScheme();
  const { chainId } = chain.row;
  const terms = { payer, payTo, value: amount, validAfter: 0n, validBefore, nonce };
  const unsigned = { method: "eip3009" as const, ...terms };
  const nonceDomain = scheme.nonceDomain(token);
  return {
    claimKey: ownClaimKey(chainId, { token, payer, nonce }),
    id: engine.newId("stl"),
    kind,
    merchantId,
    payableId,
    chainId,
    method: unsigned.method,
    nonceDomain,
    payer,
    nonce,
    token,
    payTo,
    amount,
    fee: 0n,
    validAfter: unsigned.validAfter,
    validBefore,
    signature: await sign(scheme.digest(domain, { ...unsigned, signature: "0x" })),
    payerHasCode: false,
    fingerprint: fingerprint({ authorization: unsigned, payableId, token, chainId }),
    state: "claimed",
  };
}

/** Time of the block we have followed to, seconds. */
export async function chainTime(tx: Tx, chainId: number): Promise<bigint> {
  const [row] = await tx
    .select({ timestamp: chainBlock.timestamp })
    .from(observer)
    .innerJoin(
      chainBlock,
      and(eq(chainBlock.chainId, observer.chainId), eq(chainBlock.hash, observer.cursorHash)),
    )
    .where(eq(observer.chainId, chainId));
  if (!row) throw new Error("a chain that is not followed has no time");
  return BigInt(row.timestamp);
}

/** Further behind the chain nothing is signed: what has moved since is not seen yet, and a signature could be over before it
 *  is sent. */
const FAR_BEHIND_SECONDS = 300n;

export function isFarBehind({ timestamp }: Pick<BlockRef, "timestamp">, followedTo: bigint): boolean {
  return BigInt(timestamp) > followedTo + FAR_BEHIND_SECONDS;
}

/** Null where the chain cannot be read now. */
export function readHead({ chain }: Pick<OpenChain, "chain">): Promise<BlockRef | null> {
  return chain.head().catch((error: unknown) => {
    if (outageOf(error)) return null;
    throw error;
  });
}

/** The rail of a token that may be moved on this chain. */
export function liveRail({ rails }: Pick<OpenChain, "rails">, token: Address): LiveRail | undefined {
  return rails.filter(isTaken).find((rail) => rail.token.contract === token);
}

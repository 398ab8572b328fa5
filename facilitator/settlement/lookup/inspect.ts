/** All that is known of a claim, for an operator who is asked where somebody's money is. */
import { and, asc, eq, inArray, or, type SQL } from "drizzle-orm";
import { type Address, type Hash, parseHash } from "#kernel/bytes";
import { isId } from "#kernel/id";
import { fixed } from "#store";
import type { Claim } from "../claim/claim.ts";
import type { ClaimState } from "../claim/state.ts";
import { claim, claimEvent } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import { attempt, slot, slotItem } from "../lane/tables.ts";
import { chainTransfer } from "../observer/tables.ts";

/** A transaction that was signed for it; several of one nonce are replacements of each other. */
export interface SignedTransaction {
  readonly transaction: Hash;
  readonly signer: Address;
  readonly nonce: number;
  /** Wei per gas. */
  readonly maxFee: bigint;
  readonly tip: bigint;
  readonly at: Date;
  /** The block in which this very one is; null while it is in none. */
  readonly minedBlock: number | null;
}

export interface InspectedClaim {
  /** Amounts in atomic units of the token. */
  readonly claim: Claim;
  /** Slug; null of a chain that is not served any more. */
  readonly chain: string | null;
  /** Symbol; null of a token that is not listed any more. */
  readonly asset: string | null;
  /** Oldest first. */
  readonly timeline: readonly { readonly state: ClaimState; readonly cause: string; readonly at: Date }[];
  /** Of the nonce that carries it, or the last one that did; oldest first. */
  readonly signed: readonly SignedTransaction[];
}

/** The claims that an operator means by our id, or by a transaction that carries them; none where it is neither. */
export async function inspectClaims(engine: Engine, ref: string): Promise<readonly InspectedClaim[]> {
  const which = meant(engine, ref);
  if (!which) return [];
  const claims = await engine.lookupDb.pool.select().from(claim).where(which).orderBy(asc(claim.id));
  return Promise.all(claims.map((each) => inspected(engine, each)));
}

function meant(engine: Engine, ref: string): SQL | undefined {
  if (isId("stl", ref)) return eq(claim.id, ref);
  const hash = parseHash(ref);
  return hash ? carriedBy(engine, hash) : undefined;
}

/** Those for which it was signed, and those whose money it moved, whoever signed it. */
function carriedBy({ lookupDb: { pool }, chains }: Engine, transaction: Hash): SQL | undefined {
  const sent = pool
    .select({ key: slotItem.claimKey })
    .from(attempt)
    .innerJoin(slotItem, eq(slotItem.slotId, attempt.slotId))
    .where(eq(attempt.txHash, transaction));
  const isIt = eq(chainTransfer.txHash, transaction);
  const seen = pool
    .select({ key: chainTransfer.authorizationKey })
    .from(chainTransfer)
    .where(
      and(inArray(chainTransfer.chainId, [...chains.keys()]), isIt, fixed(eq(chainTransfer.canonical, true))),
    );
  return or(inArray(claim.claimKey, sent), inArray(claim.claimKey, seen));
}

async function inspected({ lookupDb: { pool }, chains }: Engine, found: Claim): Promise<InspectedClaim> {
  const row = chains.get(found.chainId)?.chain.row;
  const timeline = await pool
    .select({ state: claimEvent.state, cause: claimEvent.cause, at: claimEvent.occurredAt })
    .from(claimEvent)
    .where(eq(claimEvent.claimId, found.id))
    .orderBy(asc(claimEvent.version));
  const signed = await pool
    .select({ slot, attempt })
    .from(attempt)
    .innerJoin(slot, eq(slot.id, attempt.slotId))
    .where(eq(attempt.slotId, found.slotId ?? ""))
    .orderBy(asc(attempt.seq));
  return {
    claim: found,
    chain: row?.slug ?? null,
    asset: row?.tokens.find(({ contract }) => contract === found.token)?.symbol ?? null,
    timeline,
    signed: signed.map(transactionOf),
  };
}

type Signed = { readonly slot: typeof slot.$inferSelect; readonly attempt: typeof attempt.$inferSelect };

function transactionOf({ slot, attempt }: Signed): SignedTransaction {
  return {
    transaction: attempt.txHash,
    signer: slot.signer,
    nonce: slot.nonce,
    maxFee: attempt.maxFee,
    tip: attempt.tip,
    at: attempt.createdAt,
    minedBlock: slot.minedTx === attempt.txHash ? slot.minedBlock : null,
  };
}

import { and, asc, eq, or, type SQL, sql } from "drizzle-orm";
import { type Address, checksum, type Hash } from "#kernel/bytes";
import type { Tx } from "#store";
import type { Engine, OpenChain } from "../engine.ts";
import { chainTransfer } from "../observer/tables.ts";
import { queueOutgoing } from "../treasury/outgoing.ts";
import { moveClaims } from "./claim.ts";
import { isProofOf } from "./proof.ts";
import { releaseUnpaid } from "./release.ts";
import type { ClaimKind } from "./state.ts";
import { claim } from "./tables.ts";

/** A payment that waits for a person. Amount in atomic units of the token. */
export interface ReviewedPayment {
  readonly id: string;
  readonly kind: ClaimKind;
  readonly merchantId: string;
  /** What it was claimed for. */
  readonly payableId: string;
  readonly chainId: number;
  readonly token: Address;
  readonly amount: bigint;
  readonly payer: Address;
  readonly since: Date;
  readonly why: string;
  /** What brought its money here; null while it has not come. */
  readonly transaction: Hash | null;
}

/** Why what a person decided cannot be done. `token-not-listed`: its money has no name in the books. `spent`: its
 *  authorization was cancelled, or used without paying here; it ends by itself. `not-paid`: no money came that could go
 *  back. `not-final`: it came in a block that may still leave the chain. */
export type ReviewProblem = "not-in-review" | "token-not-listed" | "spent" | "not-paid" | "not-final";

const shown = {
  id: claim.id,
  kind: claim.kind,
  merchantId: claim.merchantId,
  payableId: claim.payableId,
  chainId: claim.chainId,
  token: claim.token,
  amount: claim.amount,
  payer: claim.payer,
  since: claim.updatedAt,
  state: claim.state,
  message: claim.message,
  transaction: chainTransfer.txHash,
};
const decided = {
  ...shown,
  claimKey: claim.claimKey,
  spentBlock: claim.spentBlock,
  isFinal: chainTransfer.bookedFinal,
};

const isInReview = sql`${claim.state} = 'review'`;
/** It was decided that its money goes back, and what should have carried it ended unsent: the money is here again. */
const isReturnLost = sql`${claim.state} = 'cancelled' AND ${claim.id} IN (
    SELECT subject FROM outgoing WHERE kind = 'return' AND source = 'unmatched')
  AND NOT EXISTS (SELECT FROM outgoing LEFT JOIN claim AS carrier ON carrier.claim_key = outgoing.claim_key
    WHERE outgoing.subject = ${claim.id} AND outgoing.kind = 'return' AND outgoing.cancelled_at IS NULL
      AND (carrier.state IS NULL OR carrier.state NOT IN ('expired','cancelled')))`;
const SEEN_ELSEWHERE =
  "a stranger submitted its authorization, which was verified for something else first: whose payment is it?";
const NOT_SENT = "its money could not be sent back: return it once more";

/** The payments that wait for a person, oldest first. */
export async function reviewedPayments({ loopDb }: Engine): Promise<readonly ReviewedPayment[]> {
  const rows = await loopDb.pool
    .select(shown)
    .from(claim)
    .leftJoin(chainTransfer, isProofOf)
    .where(or(isInReview, isReturnLost))
    .orderBy(asc(claim.createdAt));
  return rows.map(({ message, state, ...row }) => ({
    ...row,
    why: state === "review" ? (message ?? SEEN_ELSEWHERE) : NOT_SENT,
  }));
}

/** Has a payment go on: what came is credited to the merchant who claimed it, what did not is sent. Null when it does. */
export function acceptReviewed(engine: Engine, id: string): Promise<ReviewProblem | null> {
  return decide(engine, { id, which: isInReview }, async (tx, { claimKey, spentBlock }) => {
    if (spentBlock !== null) return "spent";
    await moveClaims(engine, tx, {
      keys: [claimKey],
      to: "claimed",
      cause: "accepted by an operator",
      set: { reason: sql`NULL`, message: sql`NULL`, takenUntil: sql`NULL` },
      where: isInReview,
    });
    return null;
  });
}

/** Sends the money of a payment back to its payer; the merchant who claimed it gets nothing. Once more where it could not
 *  be sent. Null when it is decided: the lanes send it. Fault: `recipient_is_ours`. */
export function returnReviewed(engine: Engine, id: string): Promise<ReviewProblem | null> {
  const which = or(isInReview, isReturnLost);
  return decide(engine, { id, which }, async (tx, payment, { chain }) => {
    const { claimKey, kind, transaction, isFinal, merchantId, chainId, token, amount, payer } = payment;
    if (kind !== "x402" || transaction === null) return "not-paid";
    if (!isFinal) return "not-final";
    const ended = await moveClaims(engine, tx, {
      keys: [claimKey],
      to: "cancelled",
      cause: "returned by an operator",
      set: {
        reason: "invalid_payment_requirements",
        message: `A person decided that this payment is not accepted. Its money is sent back to ${checksum(payer)}.`,
      },
      where: isInReview,
      fact: "settlement.cancelled",
    });
    await releaseUnpaid(tx, chain.row, ended);
    await queueOutgoing(engine, tx, {
      ...{ id: engine.newId("ret"), kind: "return", merchantId, chainId, token, amount },
      ...{ recipient: payer, source: "unmatched", subject: id },
    });
    return null;
  });
}

type Found = Awaited<ReturnType<typeof findReviewed>>;

function decide(
  engine: Engine,
  { id, which }: { readonly id: string; readonly which: SQL | undefined },
  work: (tx: Tx, payment: NonNullable<Found>, open: OpenChain) => Promise<ReviewProblem | null>,
): Promise<ReviewProblem | null> {
  return engine.loopDb.tx(async (tx) => {
    const isIt = eq(claim.id, id as `stl_${string}`);
    // Two people decide one after the other; what the first did is read only then: it may have changed another row.
    await tx.select({ id: claim.id }).from(claim).where(isIt).for("update");
    const payment = await findReviewed(tx, and(isIt, which));
    if (!payment) return "not-in-review";
    const open = engine.chains.get(payment.chainId);
    const isListed = open?.chain.row.tokens.some(({ contract }) => contract === payment.token);
    return open && isListed ? work(tx, payment, open) : "token-not-listed";
  });
}

async function findReviewed(tx: Tx, which: SQL | undefined) {
  const [payment] = await tx.select(decided).from(claim).leftJoin(chainTransfer, isProofOf).where(which);
  return payment ?? null;
}

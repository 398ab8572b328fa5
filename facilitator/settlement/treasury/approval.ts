import { and, asc, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import type { Executor, Tx } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import type { OutgoingKind } from "../claim/state.ts";
import { assetOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { outgoing } from "./tables.ts";

/** Money that leaves the treasury only when an operator has approved it. Amount in atomic units of the token. */
export interface UnapprovedOrder {
  readonly id: string;
  readonly kind: OutgoingKind;
  readonly merchantId: string;
  readonly chainId: number;
  readonly token: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  readonly since: Date;
}

/** Whether an order of so much waits for a second person. Source: security.md §2. */
export function needsApproval(
  { approvalsAbove }: ChainRow,
  { token, amount }: Pick<UnapprovedOrder, "token" | "amount">,
): boolean {
  const most = approvalsAbove.get(token);
  return most !== undefined && amount > most;
}

/** Of orders: the treasury may sign it, as far as people have a say. */
export const isApproved = or(eq(outgoing.needsApproval, false), isNotNull(outgoing.approvedAt)) as SQL;

const isUnapproved = and(
  eq(outgoing.needsApproval, true),
  isNull(outgoing.approvedAt),
  isNull(outgoing.claimKey),
  isNull(outgoing.cancelledAt),
);

/** The orders that wait for an approval, oldest first. */
export function unapprovedOrders({ loopDb }: Engine): Promise<readonly UnapprovedOrder[]> {
  const { id, kind, merchantId, chainId, token, amount, recipient, createdAt: since } = outgoing;
  return loopDb.pool
    .select({ id, kind, merchantId, chainId, token, amount, recipient, since })
    .from(outgoing)
    .where(isUnapproved)
    .orderBy(asc(outgoing.createdAt), asc(outgoing.id));
}

/** Lets an order leave; false when no order of that id waits for it. */
export async function approveOrder({ loopDb }: Engine, id: string): Promise<boolean> {
  const approved = await loopDb.pool
    .update(outgoing)
    .set({ approvedAt: sql`now()` })
    .where(and(eq(outgoing.id, id), isUnapproved))
    .returning({ id: outgoing.id });
  return approved.length > 0;
}

/** Has what a merchant is to be paid out wait for an operator, as far as it is not signed; how many orders wait. */
export async function holdPayouts(tx: Tx, merchantId: string): Promise<number> {
  const held = await tx
    .update(outgoing)
    .set({ needsApproval: true, approvedAt: null })
    .where(
      and(
        eq(outgoing.merchantId, merchantId),
        eq(outgoing.kind, "payout"),
        isNull(outgoing.claimKey),
        isNull(outgoing.cancelledAt),
      ),
    )
    .returning({ id: outgoing.id });
  return held.length;
}

/** The assets of which something waits for an approval. A token that left the list has no name: nothing of it can leave. */
export async function unapprovedAssets(db: Executor, row: ChainRow): Promise<readonly string[]> {
  const found = await db
    .selectDistinct({ token: outgoing.token })
    .from(outgoing)
    .where(and(eq(outgoing.chainId, row.chainId), isUnapproved));
  const waiting = new Set(found.map(({ token }) => token));
  return row.tokens
    .filter(({ contract }) => waiting.has(contract))
    .map(({ contract }) => assetOf(row, contract))
    .toSorted();
}

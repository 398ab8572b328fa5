import { and, eq, gt, isNotNull, isNull, lte, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { postedEvents, templates } from "#ledger";
import { type Executor, fixed, type Tx } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { claim } from "../claim/tables.ts";
import { chainTransfer } from "../observer/tables.ts";
import { isUnbooked } from "../treasury/stray.ts";
import { outflowBooking } from "../treasury/tables.ts";
import { depositOrder } from "./tables.ts";

/** A token on a chain as of a final block. */
export interface Where {
  readonly row: ChainRow;
  readonly token: Address;
  readonly blockNumber: number;
}

const upTo = ({ row, token, blockNumber }: Where) =>
  and(
    eq(chainTransfer.chainId, row.chainId),
    eq(chainTransfer.token, token),
    lte(chainTransfer.blockNumber, blockNumber),
  );

/** What was seen to come and is not in the books yet: to orders, because who asked for them has yet to book it; to the
 *  treasury, because a credit waits for its depth or a loop for its turn. Less what stays in the books until an order takes
 *  it back. Atomic units, by where it lies. */
export async function waitingArrivals(
  tx: Tx,
  where: Where,
): Promise<{ readonly treasury: bigint; readonly deposits: bigint }> {
  const untaken = and(fixed(eq(chainTransfer.canonical, true)), isNull(chainTransfer.claimedKind));
  const came = await sumByPlace(tx, and(upTo(where), untaken));
  const stale = await staleBookings(tx, where);
  const unbooked = await sumOfNoOrder(tx, where, and(upTo(where), untaken));
  return { treasury: came.treasury + unbooked - stale.treasury, deposits: came.deposits - stale.deposits };
}

const byPlace = (sums: readonly { readonly isOwn: boolean; readonly amount: bigint }[]) => {
  const sum = (own: boolean) =>
    sums.filter(({ isOwn }) => isOwn === own).reduce((total, { amount }) => total + amount, 0n);
  return { treasury: sum(false), deposits: sum(true) };
};
const isOwn = sql<boolean>`${depositOrder.addressIndex} IS NOT NULL`;

async function sumByPlace(tx: Tx, where: SQL | undefined) {
  const rows = await tx
    .select({ isOwn, amount: sql<string>`sum(${chainTransfer.amount})` })
    .from(chainTransfer)
    .innerJoin(depositOrder, eq(depositOrder.orderId, chainTransfer.orderId))
    .where(where)
    .groupBy(isOwn);
  return byPlace(rows.map((row) => ({ isOwn: row.isOwn, amount: BigInt(row.amount) })));
}

async function sumOfNoOrder(tx: Tx, { row }: Where, where: SQL | undefined): Promise<bigint> {
  const [found] = await tx
    .select({ amount: sql<string>`coalesce(sum(${chainTransfer.amount}), 0)` })
    .from(chainTransfer)
    .where(and(where, isNull(chainTransfer.orderId), eq(chainTransfer.recipient, row.treasury)));
  return BigInt(found?.amount ?? 0);
}

/** Booked, and then its block left the chain (and came back, perhaps): in the books until the reversal is posted. */
async function staleBookings(tx: Tx, where: Where) {
  const left = or(fixed(eq(chainTransfer.canonical, false)), isNull(chainTransfer.claimedKind));
  const rows = await tx
    .select({ log: chainTransfer, isOwn })
    .from(chainTransfer)
    .innerJoin(depositOrder, eq(depositOrder.orderId, chainTransfer.orderId))
    .where(and(upTo(where), gt(chainTransfer.bookings, 0), left));
  const booked = rows.map(({ log, isOwn: own }) => {
    const named = { ...log, chain: where.row.slug, booking: log.bookings };
    const [received, reversed] = [templates.depositEventKey(named), templates.depositReversalKey(named)];
    return { received, reversed, isOwn: own, amount: log.amount };
  });
  const posted = await postedEvents(
    tx,
    booked.flatMap(({ received, reversed }) => [received, reversed]),
  );
  return byPlace(booked.filter(({ received, reversed }) => posted.has(received) && !posted.has(reversed)));
}

/** What a deposit address must hold. */
export interface AddressMoney {
  readonly address: Address;
  readonly expected: bigint;
  /** Whether all that comes to it is seen; what comes later to one that is not is nobody's yet. */
  readonly isWatched: boolean;
}

/** Deposit addresses that received something and hold it still, or are watched still. */
export async function addressMoney(tx: Tx, where: Where, now: Date): Promise<readonly AddressMoney[]> {
  const expected = expectedOf(where);
  const isWatched = sql<boolean>`bool_or(${depositOrder.watchedUntil} > ${now.toISOString()})`;
  const rows = await tx
    .select({ address: depositOrder.address, expected: sql<string>`${expected}`, isWatched })
    .from(chainTransfer)
    .innerJoin(depositOrder, eq(depositOrder.orderId, chainTransfer.orderId))
    .where(cameTo(where))
    .groupBy(depositOrder.address)
    .having(sql`${expected} > 0 OR ${isWatched}`);
  return rows.map((row) => ({ ...row, expected: BigInt(row.expected) }));
}

/** What one deposit address must hold, of what was seen to come to it. */
export async function expectedOn(db: Executor, where: Where, address: Address): Promise<bigint> {
  const [row] = await db
    .select({ expected: sql<string>`${expectedOf(where)}` })
    .from(chainTransfer)
    .innerJoin(depositOrder, eq(depositOrder.orderId, chainTransfer.orderId))
    .where(and(cameTo(where), eq(depositOrder.address, address)))
    .groupBy(depositOrder.address);
  return BigInt(row?.expected ?? 0);
}

const cameTo = (where: Where) =>
  and(upTo(where), fixed(eq(chainTransfer.canonical, true)), isNotNull(depositOrder.addressIndex));

/** Of an address: what came, less what was swept and what an operator has booked as gone. */
function expectedOf({ row, token, blockNumber }: Where): SQL {
  const isSwept = (
    sweptBy: SQLWrapper,
  ) => sql`EXISTS (SELECT FROM ${claim} WHERE ${claim.claimKey} = ${sweptBy}
    AND ${claim.state} IN ('included','final') AND ${claim.includedBlock} <= ${blockNumber})`;
  return sql`coalesce(sum(${chainTransfer.amount}) FILTER (WHERE NOT ${isSwept(chainTransfer.sweptBy)}), 0)
    - coalesce((SELECT sum(gone.amount) FROM ${outflowBooking}
      JOIN ${chainTransfer} AS gone USING (chain_id, block_hash, log_index)
      WHERE gone.chain_id = ${row.chainId} AND gone.token = ${sql.param(token, chainTransfer.token)}
        AND gone.sender = ${depositOrder.address} AND gone.block_number <= ${blockNumber}
        AND NOT ${isSwept(sql`gone.swept_by`)}), 0)`;
}

/** Transfers out of deposit addresses that no sweep explains. */
export async function unexplainedOutflows(tx: Tx, where: Where): Promise<number> {
  const [found] = await tx
    .select({ count: sql<string>`count(*)` })
    .from(chainTransfer)
    .innerJoin(
      depositOrder,
      and(
        eq(depositOrder.chainId, chainTransfer.chainId),
        eq(depositOrder.address, chainTransfer.sender),
        isNotNull(depositOrder.addressIndex),
      ),
    )
    .where(
      and(
        upTo(where),
        fixed(eq(chainTransfer.canonical, true)),
        isNull(chainTransfer.claimedKind),
        isUnbooked,
      ),
    );
  return Number(found?.count ?? 0);
}

import { and, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { assert, unreachable } from "#kernel/fault";
import { type Entry, post, resolvePending, templates } from "#ledger";
import { decodeRows, fixed, type Tx, toArray, toBytesArray, together } from "#store";
import type { Chain } from "../../chain/port.ts";
import type { ChainRow } from "../../chain/registry.ts";
import { eventKeyOf, tellFacts } from "../claim/claim.ts";
import { type MatchedClaim, matchedColumns, type ToldClaim, toldColumns } from "../claim/claim-parts.ts";
import { claimKinds, isOutgoing } from "../claim/state.ts";
import { claim } from "../claim/tables.ts";
import { assetOf } from "../coin.ts";
import { closeSweeps } from "../deposit/sweep.ts";
import type { Engine } from "../engine.ts";
import { attempt } from "../lane/tables.ts";
import type { Waiters } from "../settle/waiters.ts";
import { reservedMoney } from "../treasury/outgoing.ts";
import { type ReservedMoney, sent } from "../treasury/reservation.ts";
import { isListed } from "./delisted.ts";
import { TIERS } from "./depth.ts";
import { holdView, type ObserverRow } from "./observer.ts";
import { chainTransfer } from "./tables.ts";

const CLAIMS_PER_TRANSACTION = 250;

const logColumns = {
  blockNumber: chainTransfer.blockNumber,
  blockHash: chainTransfer.blockHash,
  txHash: chainTransfer.txHash,
  logIndex: chainTransfer.logIndex,
  blockTime: chainTransfer.blockTime,
  claimedKind: chainTransfer.claimedKind,
  bookedFinal: chainTransfer.bookedFinal,
  bookings: chainTransfer.bookings,
};
const isOurs = sql`EXISTS (SELECT 1 FROM ${attempt} WHERE ${attempt.txHash} = ${chainTransfer.txHash})`;
/** `isOurs`: a transaction that we signed carried it. */
type Log = Pick<typeof chainTransfer.$inferSelect, keyof typeof logColumns> & { readonly isOurs: boolean };
interface Match {
  readonly claim: MatchedClaim;
  readonly log: Log;
}

/** Credits what the chain has paid: every claim whose authorization moved its amount to us in a canonical block deep
 *  enough. Hands the claims of each group over as soon as it is committed; whoever waits for one here is granted success in
 *  the same transaction. Nothing else credits (DESIGN 4.3). */
export async function creditAll(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  waiters: Grantees,
): Promise<void> {
  for (;;) {
    const credited = await creditGroup(engine, chain, at, waiters);
    if (credited.length < CLAIMS_PER_TRANSACTION) return;
  }
}

type Grantees = Pick<Waiters, "promise" | "hand" | "withdraw">;
/** The request that is granted success with a claim's credit. */
type Promised = ReadonlyMap<Hash, string>;

async function creditGroup(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  waiters: Grantees,
): Promise<readonly ToldClaim[]> {
  let promised: Promised = new Map();
  const promise = (keys: readonly Hash[]) => {
    promised = waiters.promise(keys);
    return promised;
  };
  try {
    const credited = await engine.loopDb.tx((tx) => creditSome(engine, tx, chain, at, promise));
    if (credited.length > 0) await engine.checkpoint("credited");
    waiters.hand(credited);
    return credited;
  } finally {
    waiters.withdraw(promised.keys());
  }
}

async function creditSome(
  engine: Engine,
  tx: Tx,
  chain: Chain,
  at: ObserverRow,
  promise: (keys: readonly Hash[]) => Promised,
): Promise<readonly ToldClaim[]> {
  // In either order: whoever turns to another branch waits for the rows that were found as for the view.
  const [isHeld, matches] = await together([holdView(tx, chain, at), findMatches(tx, chain, at)]);
  if (!isHeld || matches.length === 0) return [];
  const promised = promise(matches.map(({ claim: { claimKey } }) => claimKey));
  const [credited] = await together([
    markIncluded(engine, tx, matches, promised),
    claimLogs(tx, matches),
    postCredits(tx, chain, matches),
  ]);
  await engine.checkpoint("before-credit");
  return credited;
}

/** What has come and is not booked yet. */
export interface Arrivals {
  /** Payments of claims. */
  readonly areCreditable: boolean;
  /** Money that no claim accounts for. */
  readonly areUnmatched: boolean;
}

/** One look, and no lock: most turns find nothing. Counted, since a plan for the first one found would look through all
 *  logs for what is mostly not there. */
export async function lookForArrivals({ loopDb }: Engine, chain: Chain, at: ObserverRow): Promise<Arrivals> {
  const { rows } = await loopDb.pool.execute<{ creditable: boolean; unmatched: boolean }>(sql`
    SELECT (SELECT count(*) FROM ${chainTransfer} INNER JOIN ${claim}
        ON ${claim.claimKey} = ${chainTransfer.authorizationKey} WHERE ${isPayment(chain, at)}) > 0 AS creditable,
      (SELECT count(*) FROM ${chainTransfer} LEFT JOIN ${claim}
        ON ${claim.claimKey} = ${chainTransfer.authorizationKey} WHERE ${isUnmatched(chain, at)}) > 0 AS unmatched`);
  return { areCreditable: rows[0]?.creditable === true, areUnmatched: rows[0]?.unmatched === true };
}

/** A log that pays an open claim and lies deep enough. Our own money is on its way in the books as soon as it is on the
 *  chain. */
function isPayment({ row }: Chain, at: ObserverRow): SQL | undefined {
  const { chainId, depth } = row;
  const deepEnough = sql`${chainTransfer.blockNumber} <= CASE
    WHEN ${claim.kind} <> 'x402' OR ${claim.amount} < ${TIERS.x402.toString()}::numeric THEN ${at.cursorNumber - depth.x402 + 1}::bigint
    WHEN ${claim.amount} < ${TIERS.standard.toString()}::numeric THEN ${at.cursorNumber - depth.standard + 1}::bigint
    ELSE ${at.finalizedNumber}::bigint END`;
  return and(
    eq(chainTransfer.chainId, chainId),
    fixed(eq(chainTransfer.canonical, true)),
    sql`${claim.state} IN ('claimed','submitting','failed-watch')`,
    eq(claim.chainId, chainId),
    isListed(row, claim.token),
    fixed(eq(claim.creditState, "none")),
    // In the words of two small indexes: there are always more logs that were claimed, and often more open claims.
    sql`(${chainTransfer.claimedKind} IS NULL OR ${chainTransfer.claimedKind} = 'unmatched')`,
    isNotNull(chainTransfer.authorizationKey),
    eq(claim.amount, chainTransfer.amount),
    eq(claim.payTo, chainTransfer.recipient),
    deepEnough,
  );
}

async function findMatches(tx: Tx, chain: Chain, at: ObserverRow): Promise<readonly Match[]> {
  const columns = { ...matchedColumns, ...logColumns };
  const paid = tx
    .select({ ...columns, isOurs: isOurs.as("is_ours") })
    .from(chainTransfer)
    .innerJoin(claim, eq(claim.claimKey, chainTransfer.authorizationKey))
    .where(isPayment(chain, at))
    .orderBy(claim.claimKey)
    .limit(CLAIMS_PER_TRANSACTION)
    .for("update", { of: [claim, chainTransfer], skipLocked: true });
  const { rows } = await tx.execute<Record<string, unknown>>(paid);
  return decodeRows(columns, rows).map((row, i) => ({
    claim: row,
    log: { ...row, isOurs: rows[i]?.is_ours === true },
  }));
}

/** One log pays one thing: the unique index on claimed authorizations stands behind this. */
async function claimLogs(tx: Tx, matches: readonly Match[]): Promise<void> {
  for (const claimedKind of claimKinds) {
    const keys = matches.flatMap(({ claim: { kind, claimKey } }) => (kind === claimedKind ? [claimKey] : []));
    if (keys.length === 0) continue;
    await tx
      .update(chainTransfer)
      .set({ claimedKind })
      .where(
        and(
          sql`${chainTransfer.authorizationKey} = ANY(${toBytesArray(keys)})`,
          fixed(eq(chainTransfer.canonical, true)),
        ),
      );
  }
}

async function postCredits(tx: Tx, { row }: Chain, matches: readonly Match[]): Promise<void> {
  const stillPending = matches.filter(({ log }) => log.claimedKind === "unmatched" && !log.bookedFinal);
  await resolvePending(
    tx,
    "void",
    stillPending.map(({ log }) => templates.unmatchedEventKey({ chain: row.slug, ...log })),
  );
  const orders = matches.filter(({ claim }) => isOutgoing(claim.kind)).map(({ claim }) => claim.payableId);
  const reserved = await reservedMoney(tx, row, orders);
  await post(
    tx,
    matches.map((match) => creditEntry(row, match, reserved)),
  );
}

/** What the books say of a log that carried out a claim. */
function creditEntry(
  row: ChainRow,
  { claim: paid, log }: Match,
  reserved: ReadonlyMap<string, ReservedMoney>,
): Entry {
  const asset = assetOf(row, paid.token);
  const { claimKey, creditEpoch: epoch, merchantId, payableId, amount, fee } = paid;
  const { blockNumber } = log;
  switch (paid.kind) {
    case "x402": {
      const payment = {
        claimKey,
        epoch,
        settlementId: paid.id,
        merchantId,
        asset,
        gross: amount,
        fee,
        blockNumber,
      };
      return log.bookedFinal ? templates.x402Matched(payment) : templates.x402Credited(payment);
    }
    case "sweep": {
      const sweep = { eventKey: eventKeyOf(paid), subject: payableId, asset, amount, blockNumber };
      return log.bookedFinal ? templates.sweepMatched(sweep) : templates.sweepMoved(sweep);
    }
    case "payout":
    case "refund":
    case "return": {
      const money = reserved.get(payableId);
      assert(money, `what ${payableId} reserved is known`);
      return sent(money, { eventKey: eventKeyOf(paid), blockNumber });
    }
    default:
      return unreachable(paid.kind);
  }
}

async function markIncluded(
  engine: Engine,
  tx: Tx,
  matches: readonly Match[],
  promised: Promised,
): Promise<readonly ToldClaim[]> {
  const credited: ToldClaim[] = [];
  for (const group of [
    matches.filter(({ log }) => !log.bookedFinal),
    matches.filter(({ log }) => log.bookedFinal),
  ]) {
    if (group.length > 0) credited.push(...(await includeGroup(engine, tx, group, promised)));
  }
  return credited;
}

/** Money that was booked as unmatched for good changes owner for good: its claim is final at once. */
async function includeGroup(
  engine: Engine,
  tx: Tx,
  group: readonly Match[],
  promised: Promised,
): Promise<readonly ToldClaim[]> {
  const isFinal = group[0]?.log.bookedFinal === true;
  const state = isFinal ? ("final" as const) : ("included" as const);
  const keys = toBytesArray(group.map(({ claim: { claimKey } }) => claimKey));
  const update = tx
    .update(claim)
    .set({
      state,
      creditState: isFinal ? "final" : "credited",
      reason: null,
      message: null,
      includedBlock: sql`place.block`,
      includedHash: sql`place.block_hash`,
      includedTx: sql`place.tx`,
      includedLog: sql`place.log`,
      includedAt: sql`place.at`,
      settledBy: sql`place.settled_by`,
      // To one caller ever, also when a block left the chain and came back.
      grantedTo: sql`CASE WHEN ${claim.grantedAt} IS NULL THEN place.grantee ELSE ${claim.grantedTo} END`,
      grantedAt: sql`CASE WHEN ${claim.grantedAt} IS NULL AND place.grantee IS NOT NULL THEN now() ELSE ${claim.grantedAt} END`,
      version: sql`${claim.version} + 1`,
      updatedAt: sql`now()`,
    })
    .from(placesOf(group, promised))
    // The rows are locked since they were matched. By key twice, and by nothing that seems to leave few of them: the
    // planner then neither scans the table nor compares every claim with every place.
    .where(
      sql`${claim.claimKey} = ANY(${keys}) AND ${claim.claimKey} = place.key AND ${claim.version} = place.version`,
    )
    .returning({ ...toldColumns, version: claim.version, was: sql`place.was`.as("was") });
  const marked = sql`
    WITH marked AS ${update},
      told AS (INSERT INTO claim_event (claim_id, version, state, "from", cause)
        SELECT id, version, state, was, 'paid on chain' FROM marked)
    SELECT * FROM marked`;
  const [{ rows }] = await together([tx.execute(marked), tellCredits(engine, tx, group)]);
  if (rows.length !== group.length) throw new Error("a credit did not hit exactly its claims");
  if (isFinal)
    await closeSweeps(
      tx,
      group.map(({ claim: paid }) => paid),
    );
  return decodeRows(toldColumns, rows);
}

/** All of a group were paid alike: final with their credit, or not. */
async function tellCredits(engine: Engine, tx: Tx, group: readonly Match[]): Promise<void> {
  const isFinal = group[0]?.log.bookedFinal === true;
  const types = isFinal
    ? (["settlement.credited", "settlement.final"] as const)
    : (["settlement.credited"] as const);
  const paid = group.map(({ claim: row, log }) => ({ ...row, paidIn: log.txHash }));
  for (const type of types)
    await tellFacts(engine, tx, type, paid, ({ paidIn }) => ({ transaction: paidIn }));
}

/** Where each claim of a group was paid, from what it comes there, and who may be told so. */
function placesOf(group: readonly Match[], promised: Promised): SQL {
  return sql`unnest(
    ${toBytesArray(group.map(({ claim: { claimKey } }) => claimKey))},
    ${toArray(
      group.map(({ claim: { version } }) => version),
      "int",
    )},
    ${toArray(
      group.map(({ claim: { state } }) => state),
      "text",
    )},
    ${toArray(
      group.map(({ log }) => log.blockNumber),
      "bigint",
    )},
    ${toBytesArray(group.map(({ log }) => log.blockHash))},
    ${toBytesArray(group.map(({ log }) => log.txHash))},
    ${toArray(
      group.map(({ log }) => log.logIndex),
      "int",
    )},
    ${toArray(
      group.map(({ log }) => log.blockTime.toISOString()),
      "timestamptz",
    )},
    ${toArray(
      group.map(({ log }) => (log.isOurs ? "farebox" : "third-party")),
      "text",
    )},
    ${toArray(
      group.map(({ claim: { claimKey } }) => promised.get(claimKey) ?? null),
      "text",
    )}
  ) AS place(key, version, was, block, block_hash, tx, log, at, settled_by, grantee)`;
}

function isUnmatched({ row }: Chain, at: ObserverRow): SQL | undefined {
  return and(
    eq(chainTransfer.chainId, row.chainId),
    fixed(eq(chainTransfer.canonical, true)),
    isNull(chainTransfer.claimedKind),
    isListed(row, chainTransfer.token),
    // What reached an order is booked by who asked for it.
    isNull(chainTransfer.orderId),
    eq(chainTransfer.recipient, row.treasury),
    sql`${chainTransfer.blockNumber} <= ${at.cursorNumber}`,
    sql`(${claim.claimKey} IS NULL OR ${claim.state} IN ('review','expired','cancelled')
      OR ${claim.amount} <> ${chainTransfer.amount} OR ${claim.payTo} <> ${chainTransfer.recipient})`,
  );
}

/** Money that came to us and that no claim accounts for: booked as unmatched, so that the books equal the chain, until
 *  its claim comes or a person decides. */
export async function bookUnmatched(engine: Engine, chain: Chain, at: ObserverRow): Promise<void> {
  const { row } = chain;
  const booked = await engine.loopDb.tx(async (tx) => {
    if (!(await holdView(tx, chain, at))) return 0;
    const logs = await tx
      .select({ log: chainTransfer })
      .from(chainTransfer)
      .leftJoin(claim, eq(claim.claimKey, chainTransfer.authorizationKey))
      .where(isUnmatched(chain, at))
      .orderBy(chainTransfer.blockNumber, chainTransfer.logIndex)
      .limit(500)
      .for("update", { of: chainTransfer, skipLocked: true });
    if (logs.length === 0) return 0;
    await post(
      tx,
      logs.map(({ log }) =>
        templates.unmatchedReceived({
          chain: row.slug,
          asset: assetOf(row, log.token),
          ...log,
          bookings: log.bookings + 1,
        }),
      ),
    );
    await tx
      .update(chainTransfer)
      .set({ claimedKind: "unmatched", bookings: sql`${chainTransfer.bookings} + 1` })
      .where(
        sql`(${chainTransfer.blockHash}, ${chainTransfer.logIndex}) IN (SELECT * FROM unnest(${toBytesArray(logs.map(({ log }) => log.blockHash))}, ${sql.param(logs.map(({ log }) => log.logIndex))}::int[]))`,
      );
    return logs.length;
  });
  if (booked > 0) engine.meter.count("unmatched", { chain: row.slug }, booked);
}

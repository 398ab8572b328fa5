import { and, eq, isNull, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { assert, unreachable } from "#kernel/fault";
import { type Entry, post, resolvePending, templates } from "#ledger";
import { insertMany, type Tx, toBytesArray } from "#store";
import type { Chain } from "../chain/port.ts";
import type { ChainRow } from "../chain/registry.ts";
import { type Claim, eventKeyOf, tellFacts } from "./claim.ts";
import { assetOf } from "./coin.ts";
import { TIERS } from "./depth.ts";
import type { Engine } from "./engine.ts";
import { holdView, type ObserverRow } from "./observe.ts";
import { reservedMoney } from "./outgoing.ts";
import { type ReservedMoney, sent } from "./reservation.ts";
import { isOutgoing } from "./state.ts";
import { attempt, chainTransfer, claim, claimEvent } from "./tables.ts";

const CLAIMS_PER_TRANSACTION = 250;

type TransferRow = typeof chainTransfer.$inferSelect;
interface Match {
  readonly claim: Claim;
  readonly log: TransferRow;
}

/** Credits what the chain has paid: every claim whose authorization moved its amount to us in a canonical block deep
 *  enough. Tells the keys of each group as soon as it is committed. Nothing else credits (DESIGN 4.3). */
export async function creditAll(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  tell: (credited: readonly Hash[]) => void,
): Promise<void> {
  for (;;) {
    const keys = await engine.loopDb.tx((tx) => creditSome(engine, tx, chain, at));
    if (keys.length > 0) await engine.checkpoint("credited");
    tell(keys);
    if (keys.length < CLAIMS_PER_TRANSACTION) return;
  }
}

async function creditSome(engine: Engine, tx: Tx, chain: Chain, at: ObserverRow): Promise<readonly Hash[]> {
  if (!(await holdView(tx, chain, at))) return [];
  const matches = await findMatches(tx, chain, at);
  if (matches.length === 0) return [];
  await claimLogs(tx, matches);
  await postCredits(tx, chain, matches);
  await markIncluded(engine, tx, matches);
  await engine.checkpoint("before-credit");
  return matches.map(({ claim: { claimKey } }) => claimKey);
}

async function findMatches(tx: Tx, chain: Chain, at: ObserverRow): Promise<readonly Match[]> {
  const { chainId, depth } = chain.row;
  // Our own money is on its way in the books as soon as it is on the chain.
  const deepEnough = sql`${chainTransfer.blockNumber} <= CASE
    WHEN ${claim.kind} <> 'x402' OR ${claim.amount} < ${TIERS.x402.toString()}::numeric THEN ${at.cursorNumber - depth.x402 + 1}::bigint
    WHEN ${claim.amount} < ${TIERS.standard.toString()}::numeric THEN ${at.cursorNumber - depth.standard + 1}::bigint
    ELSE ${at.finalizedNumber}::bigint END`;
  const rows = await tx
    .select({ claim, log: chainTransfer })
    .from(chainTransfer)
    .innerJoin(claim, eq(claim.claimKey, chainTransfer.authorizationKey))
    .where(
      and(
        eq(chainTransfer.chainId, chainId),
        eq(chainTransfer.canonical, true),
        // From the open claims to their logs, never the other way: logs that nobody claims stay for ever.
        sql`${claim.state} IN ('claimed','submitting','failed-watch')`,
        eq(claim.chainId, chainId),
        eq(claim.creditState, "none"),
        sql`coalesce(${chainTransfer.claimedKind}, 'unmatched') = 'unmatched'`,
        eq(claim.amount, chainTransfer.amount),
        eq(claim.payTo, chainTransfer.recipient),
        deepEnough,
      ),
    )
    .orderBy(claim.claimKey)
    .limit(CLAIMS_PER_TRANSACTION)
    .for("update", { of: [claim, chainTransfer], skipLocked: true });
  return rows;
}

/** One log pays one thing: the unique index on `claimed_by` stands behind this. */
async function claimLogs(tx: Tx, matches: readonly Match[]): Promise<void> {
  await tx
    .update(chainTransfer)
    .set({
      claimedBy: sql`${chainTransfer.authorizationKey}`,
      claimedKind: sql`(SELECT kind FROM claim WHERE claim_key = ${chainTransfer.authorizationKey})`,
    })
    .where(
      and(
        sql`${chainTransfer.authorizationKey} = ANY(${toBytesArray(matches.map(({ claim: { claimKey } }) => claimKey))})`,
        eq(chainTransfer.canonical, true),
      ),
    );
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
    case "sweep":
      return templates.sweepMoved({
        eventKey: eventKeyOf(paid),
        subject: payableId,
        asset,
        amount,
        blockNumber,
      });
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

async function markIncluded(engine: Engine, tx: Tx, matches: readonly Match[]): Promise<void> {
  const ours = await ourTransactions(tx, matches);
  for (const group of [
    matches.filter(({ log }) => !log.bookedFinal),
    matches.filter(({ log }) => log.bookedFinal),
  ]) {
    if (group.length > 0) await includeGroup(engine, tx, group, ours);
  }
}

async function ourTransactions(tx: Tx, matches: readonly Match[]): Promise<ReadonlySet<Hash>> {
  const hashes = [...new Set(matches.map(({ log }) => log.txHash))];
  const rows = await tx
    .select({ txHash: attempt.txHash })
    .from(attempt)
    .where(sql`${attempt.txHash} = ANY(${toBytesArray(hashes)})`);
  return new Set(rows.map(({ txHash }) => txHash));
}

/** Money that was booked as unmatched for good changes owner for good: its claim is final at once. */
async function includeGroup(
  engine: Engine,
  tx: Tx,
  group: readonly Match[],
  ours: ReadonlySet<Hash>,
): Promise<void> {
  const isFinal = group[0]?.log.bookedFinal === true;
  const state = isFinal ? ("final" as const) : ("included" as const);
  const credited = await tx.execute<{ claim_key: Buffer }>(sql`
    UPDATE claim SET state = ${state}, credit_state = ${isFinal ? "final" : "credited"}, reason = NULL, message = NULL,
      included_block = place.block, included_hash = place.block_hash, included_tx = place.tx, included_log = place.log,
      included_at = place.at, settled_by = place.settled_by, version = version + 1, updated_at = now()
    FROM unnest(
      ${toBytesArray(group.map(({ log }) => log.authorizationKey ?? "0x"))},
      ${sql.param(group.map(({ log }) => log.blockNumber))}::bigint[],
      ${toBytesArray(group.map(({ log }) => log.blockHash))},
      ${toBytesArray(group.map(({ log }) => log.txHash))},
      ${sql.param(group.map(({ log }) => log.logIndex))}::int[],
      ${sql.param(group.map(({ log }) => log.blockTime.toISOString()))}::timestamptz[],
      ${sql.param(group.map(({ log }) => (ours.has(log.txHash) ? "farebox" : "third-party")))}::text[]
    ) AS place(key, block, block_hash, tx, log, at, settled_by)
    WHERE claim_key = place.key AND credit_state = 'none'
    RETURNING claim_key`);
  if (credited.rows.length !== group.length) throw new Error("a credit did not hit exactly its claims");
  const events = group.map(({ claim: { claimKey, version, state: from } }) => ({
    claimKey,
    version: version + 1,
    state,
    from,
    cause: "paid on chain",
  }));
  await tx.execute(insertMany(claimEvent, events));
  const types = isFinal
    ? (["settlement.credited", "settlement.final"] as const)
    : (["settlement.credited"] as const);
  const paid = group.map(({ claim: row, log }) => ({ ...row, paidIn: log.txHash }));
  for (const type of types)
    await tellFacts(engine, tx, type, paid, ({ paidIn }) => ({ transaction: paidIn }));
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
      .where(
        and(
          eq(chainTransfer.chainId, row.chainId),
          eq(chainTransfer.canonical, true),
          isNull(chainTransfer.claimedKind),
          // What reached an order is booked by who asked for it.
          isNull(chainTransfer.orderId),
          eq(chainTransfer.recipient, row.treasury),
          sql`${chainTransfer.blockNumber} <= ${at.cursorNumber}`,
          sql`(${claim.claimKey} IS NULL OR ${claim.state} IN ('review','expired','cancelled')
            OR ${claim.amount} <> ${chainTransfer.amount} OR ${claim.payTo} <> ${chainTransfer.recipient})`,
        ),
      )
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

import { and, eq, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import { type Address, type Hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { type Executor, fixed, type Tx, toBytesArray } from "#store";
import type { LiveRail } from "../../chain/port.ts";
import { isTaken } from "../../chain/rails.ts";
import type { ChainRow } from "../../chain/registry.ts";
import { putUint, WORD } from "../../scheme/word.ts";
import { insertRows } from "../claim/claim.ts";
import type { MovedClaim } from "../claim/claim-parts.ts";
import { chainTime, isFarBehind, liveRail, ownClaimKey, readHead, signClaim } from "../claim/own-claim.ts";
import { assetOf } from "../coin.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { brokenAssets } from "../treasury/reconcile.ts";
import { outflowBooking } from "../treasury/tables.ts";
import { depositOrder, sweep } from "./tables.ts";

const GROUP = 50;
/** How long a sweep's signature outlives the time for which it may wait for company, seconds. */
const LIFE_SECONDS = 3_600;
/** Numbers that are looked at for a sweep that the books forgot. */
const AHEAD = 20;

/** Seconds for which a sweep waits for spare room in a payment's transaction before it goes alone. */
export function sweepPatience({ settings }: Engine, { chain }: Pick<OpenChain, "chain">): number {
  const { local, elsewhere } = settings.sweepPatienceSeconds;
  return chain.row.isLocal ? local : elsewhere;
}

/** Signs, as their addresses, what was booked of deposits and is final, and commits each authorization as a claim; the
 *  lanes send it. One open sweep per address and token; what an expired one left behind is taken by the next. Returns
 *  how many. */
export async function signSweeps(engine: Engine, open: OpenChain): Promise<number> {
  const { sign } = open.depositAccount;
  if (!sign) return 0;
  const due = await findDue(engine.loopDb.pool, open);
  const head = due.length === 0 ? null : await readHead(open);
  if (!head) return 0;
  return engine.loopDb.tx(async (tx) => {
    if (isFarBehind(head, await chainTime(tx, open.chain.row.chainId))) return 0;
    let signed = 0;
    for (const each of await lockDue(tx, due)) {
      const rail = liveRail(open, each.token);
      if (rail && (await signOne(engine, tx, open, { due: each, rail, sign }))) signed += 1;
    }
    return signed;
  });
}

/** What one order's address holds of a token. */
interface Found {
  readonly orderId: `ord_${string}`;
  readonly token: Address;
  /** Money of an asset whose books differ from the chain stays where it is: only what has left already is signed for. */
  readonly isBroken: boolean;
}

interface Due extends Found {
  readonly order: typeof depositOrder.$inferSelect;
}

async function findDue(db: Executor, { chain: { row }, rails }: OpenChain): Promise<readonly Found[]> {
  const broken = await brokenAssets(db, row.chainId);
  const tokens = rails.filter(isTaken).map(({ token }) => token.contract);
  const isBroken = (token: Address) => broken.has(assetOf(row, token));
  const sound = await dueOf(
    db,
    row,
    tokens.filter((token) => !isBroken(token)),
  );
  const moved = await dueOf(db, row, tokens.filter(isBroken), hasMoved(row));
  return [
    ...sound.map((each) => ({ ...each, isBroken: false })),
    ...moved.map((each) => ({ ...each, isBroken: true })),
  ];
}

/** Something left the address for the treasury that no sweep here accounts for: the books were put back to an earlier
 *  time. */
const hasMoved = ({ treasury }: ChainRow) => sql`EXISTS (
  SELECT FROM ${chainTransfer} AS gone
  WHERE gone.chain_id = ${chainTransfer.chainId} AND gone.token = ${chainTransfer.token}
    AND gone.sender = ${chainTransfer.recipient} AND gone.recipient = ${sql.param(treasury, chainTransfer.recipient)}
    AND gone.canonical AND coalesce(gone.claimed_kind, 'unmatched') = 'unmatched')`;

/** Taken, in a final block, and in no sweep. */
const unswept = (chainId: number) =>
  and(
    eq(chainTransfer.chainId, chainId),
    fixed(eq(chainTransfer.canonical, true)),
    fixed(eq(chainTransfer.claimedKind, "deposit")),
    isNull(chainTransfer.sweptBy),
    lte(
      chainTransfer.blockNumber,
      sql`(SELECT ${observer.finalizedNumber} FROM ${observer} WHERE ${observer.chainId} = ${chainId})`,
    ),
    sql`NOT EXISTS (SELECT FROM ${sweep} WHERE ${sweep.open} AND ${sweep.chainId} = ${chainTransfer.chainId}
      AND ${sweep.token} = ${chainTransfer.token} AND ${sweep.address} = ${chainTransfer.recipient})`,
  );

/** What was booked as gone from the address of such logs, by no sweep, and is in none: it is not there to be swept. */
const booked = sql`(SELECT coalesce(sum(gone.amount), 0) FROM ${outflowBooking}
  JOIN ${chainTransfer} AS gone USING (chain_id, block_hash, log_index)
  WHERE gone.chain_id = ${chainTransfer.chainId} AND gone.token = ${chainTransfer.token}
    AND gone.sender = ${chainTransfer.recipient} AND gone.swept_by IS NULL)`;

/** Addresses with more than a sweep costs. */
async function dueOf(
  db: Executor,
  { chainId, dustFloor }: ChainRow,
  tokens: readonly Address[],
  where?: SQL,
): Promise<readonly Omit<Found, "isBroken">[]> {
  if (tokens.length === 0) return [];
  return db
    .select({ orderId: sql<`ord_${string}`>`${chainTransfer.orderId}`, token: chainTransfer.token })
    .from(chainTransfer)
    .where(and(unswept(chainId), sql`${chainTransfer.token} = ANY(${toBytesArray(tokens)})`, where))
    .groupBy(chainTransfer.chainId, chainTransfer.orderId, chainTransfer.recipient, chainTransfer.token)
    .having(sql`sum(${chainTransfer.amount}) - ${booked} >= ${dustFloor.toString()}::numeric`)
    .limit(GROUP);
}

/** Each order locked: another process leaves them to us. */
async function lockDue(tx: Tx, due: readonly Found[]): Promise<readonly Due[]> {
  const locked = await tx
    .select()
    .from(depositOrder)
    .where(
      inArray(
        depositOrder.orderId,
        due.map(({ orderId }) => orderId),
      ),
    )
    .for("update", { skipLocked: true });
  const orders = new Map(locked.map((order) => [order.orderId, order]));
  return due.flatMap((each): Due[] => {
    const order = orders.get(each.orderId);
    return order ? [{ ...each, order }] : [];
  });
}

interface Signing {
  readonly due: Due;
  readonly rail: LiveRail;
  readonly sign: NonNullable<OpenChain["depositAccount"]["sign"]>;
}

async function signOne(
  engine: Engine,
  tx: Tx,
  open: OpenChain,
  { due: { order, token, isBroken }, rail, sign }: Signing,
): Promise<boolean> {
  const { chainId, treasury } = open.chain.row;
  const { address, addressIndex: index, merchantId, orderId } = order;
  if (index === null) throw new Error("a deposit lies on an address of ours");
  const place = { chainId, token, address };
  const logs = await lockLogs(tx, place, orderId);
  const next = await nextSeq(tx, place);
  const departed = await findDeparted(tx, place, next);
  const taken = departed ? runOf(logs, departed.amount) : logs;
  const amount = sumOf(taken ?? []);
  if (!taken || amount <= 0n || (isBroken && !departed)) return false;
  const seq = departed?.seq ?? next;
  const life = BigInt(sweepPatience(engine, open) + LIFE_SECONDS);
  const claim = await signClaim(engine, open, rail, {
    ...{ kind: "sweep", merchantId, payableId: orderId, payer: address, payTo: treasury },
    amount,
    nonce: sweepNonce({ ...place, seq }),
    validBefore: (await chainTime(tx, chainId)) + life,
    sign: (digest) => sign(index, digest),
  });
  await insertRows(engine, tx, [claim]);
  await tx.insert(sweep).values({ ...place, claimKey: claim.claimKey, seq });
  await markSwept(tx, chainId, taken, claim.claimKey);
  return true;
}

/** What a sweep takes; what an operator has booked as gone, by its amount below nothing. */
interface Lying {
  readonly blockHash: Hash;
  readonly logIndex: number;
  readonly amount: bigint;
}

const sumOf = (logs: readonly Lying[]) => logs.reduce((sum, { amount }) => sum + amount, 0n);

/** In the order in which they came and went. Read under the lock: whoever was faster has taken them. */
async function lockLogs(
  tx: Tx,
  { chainId, token, address }: Place,
  orderId: Found["orderId"],
): Promise<readonly Lying[]> {
  const { blockHash, logIndex, blockNumber, amount } = chainTransfer;
  const columns = { blockHash, logIndex, blockNumber, amount };
  const came = await tx
    .select(columns)
    .from(chainTransfer)
    .where(and(unswept(chainId), eq(chainTransfer.orderId, orderId), eq(chainTransfer.token, token)))
    .for("update");
  const isBooking = and(
    eq(outflowBooking.chainId, chainTransfer.chainId),
    eq(outflowBooking.blockHash, blockHash),
    eq(outflowBooking.logIndex, logIndex),
  );
  const isGone = and(
    eq(chainTransfer.chainId, chainId),
    eq(chainTransfer.token, token),
    eq(chainTransfer.sender, address),
    isNull(chainTransfer.sweptBy),
  );
  const gone = await tx
    .select(columns)
    .from(outflowBooking)
    .innerJoin(chainTransfer, isBooking)
    .where(isGone)
    .for("update", { of: chainTransfer });
  return [...came, ...gone.map((log) => ({ ...log, amount: -log.amount }))].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
}

async function markSwept(tx: Tx, chainId: number, taken: readonly Lying[], sweptBy: Hash): Promise<void> {
  const places = sql`SELECT * FROM unnest(
    ${toBytesArray(taken.map(({ blockHash }) => blockHash))}, ${sql.param(taken.map(({ logIndex }) => logIndex))}::int[])`;
  await tx
    .update(chainTransfer)
    .set({ sweptBy })
    .where(
      and(
        eq(chainTransfer.chainId, chainId),
        sql`(${chainTransfer.blockHash}, ${chainTransfer.logIndex}) IN (${places})`,
      ),
    );
}

interface Departed {
  readonly seq: number;
  readonly amount: bigint;
}

/** The first sweep from this number on that has moved something and is not signed here: the books were put back to an
 *  earlier time. Those before it may have expired. */
async function findDeparted(tx: Tx, place: Place, from: number): Promise<Departed | undefined> {
  const seqs = keysFrom(place, from);
  const logs = await tx
    .select({ key: chainTransfer.authorizationKey, amount: chainTransfer.amount })
    .from(chainTransfer)
    .where(
      and(
        sql`${chainTransfer.authorizationKey} = ANY(${toBytesArray([...seqs.keys()])})`,
        fixed(eq(chainTransfer.canonical, true)),
      ),
    );
  const found = logs.flatMap(({ key, amount }): Departed[] => {
    const seq = key === null ? undefined : seqs.get(key);
    return seq === undefined ? [] : [{ seq, amount }];
  });
  return found.sort((a, b) => a.seq - b.seq)[0];
}

/** Whether an authorization is that of a sweep which is not signed here, and will be. */
export async function isUpcomingSweep(db: Executor, place: Place, key: Hash): Promise<boolean> {
  return keysFrom(place, await nextSeq(db, place)).has(key);
}

function keysFrom(place: Place, from: number): ReadonlyMap<Hash, number> {
  const { chainId, token, address: payer } = place;
  const keyOf = (seq: number) => ownClaimKey(chainId, { token, payer, nonce: sweepNonce({ ...place, seq }) });
  return new Map(Array.from({ length: AHEAD }, (_, i) => [keyOf(from + i), from + i]));
}

/** Neighbours among them that come to an amount; undefined where none do. */
function runOf(logs: readonly Lying[], amount: bigint): readonly Lying[] | undefined {
  const before = new Map([[0n, 0]]);
  let sum = 0n;
  for (const [i, log] of logs.entries()) {
    sum += log.amount;
    const first = before.get(sum - amount);
    if (first !== undefined) return logs.slice(first, i + 1);
    before.set(sum, i + 1);
  }
  return undefined;
}

interface Place {
  readonly chainId: number;
  readonly token: Address;
  readonly address: Address;
}

async function nextSeq(db: Executor, { chainId, token, address }: Place): Promise<number> {
  const [row] = await db
    .select({ next: sql<number>`coalesce(max(${sweep.seq}) + 1, 0)` })
    .from(sweep)
    .where(and(eq(sweep.chainId, chainId), eq(sweep.token, token), eq(sweep.address, address)));
  return row?.next ?? 0;
}

/** Signing again after a crash gives the same authorization. Source: settlement.md §12. */
function sweepNonce({ chainId, token, address, seq }: Place & { readonly seq: number }): Hash {
  return sha256("farebox/sweep/v1", uint(chainId), toBytes(token), toBytes(address), uint(seq));
}

function uint(value: number): Buffer {
  const out = Buffer.alloc(WORD);
  putUint(out, 0, BigInt(value));
  return out;
}

/** Sweeps among claims that ended: their addresses may be swept anew. */
export async function closeSweeps(
  tx: Tx,
  ended: readonly Pick<MovedClaim, "kind" | "claimKey">[],
): Promise<readonly Hash[]> {
  const keys = ended.filter(({ kind }) => kind === "sweep").map(({ claimKey }) => claimKey);
  if (keys.length > 0)
    await tx
      .update(sweep)
      .set({ open: false })
      .where(sql`${sweep.claimKey} = ANY(${toBytesArray(keys)})`);
  return keys;
}

/** As `closeSweeps`, of those that moved nothing: what they were to take is left to the next. */
export async function freeSweeps(tx: Tx, ended: readonly MovedClaim[]): Promise<void> {
  const keys = await closeSweeps(tx, ended);
  if (keys.length > 0)
    await tx
      .update(chainTransfer)
      .set({ sweptBy: null })
      .where(sql`${chainTransfer.sweptBy} = ANY(${toBytesArray(keys)})`);
}

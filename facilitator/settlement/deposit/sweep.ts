import { and, asc, eq, inArray, isNull, lte, sql } from "drizzle-orm";
import { type Address, type Hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { fixed, type Tx, toBytesArray } from "#store";
import type { LiveRail } from "../../chain/port.ts";
import { isTaken } from "../../chain/rails.ts";
import { putUint, WORD } from "../../scheme/word.ts";
import { insertRows } from "../claim.ts";
import type { MovedClaim } from "../claim-parts.ts";
import { assetOf } from "../coin.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { chainTime, liveRail, signClaim } from "../own-claim.ts";
import { brokenAssets } from "../reconcile.ts";
import { chainTransfer, observer } from "../tables.ts";
import { depositOrder, sweep } from "./tables.ts";

const GROUP = 50;
/** How long a sweep's signature outlives the time for which it may wait for company, seconds. */
const LIFE_SECONDS = 3_600;

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
  return engine.loopDb.tx(async (tx) => {
    const rails = await sweptRails(tx, open);
    const addresses = await lockDue(tx, open, rails);
    let signed = 0;
    for (const due of addresses) {
      const rail = liveRail(open, due.token);
      if (rail && (await signOne(engine, tx, open, { due, rail, sign }))) signed += 1;
    }
    return signed;
  });
}

/** Money of an asset whose books differ from the chain stays where it is. */
async function sweptRails(tx: Tx, { chain, rails }: OpenChain): Promise<readonly LiveRail[]> {
  const broken = await brokenAssets(tx, chain.row.chainId);
  return rails.filter(isTaken).filter(({ token }) => !broken.has(assetOf(chain.row, token.contract)));
}

interface Due {
  readonly token: Address;
  readonly order: typeof depositOrder.$inferSelect;
}

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

/** Addresses with more than a sweep costs, each locked: another process leaves them to us. */
async function lockDue(tx: Tx, { chain }: OpenChain, rails: readonly LiveRail[]): Promise<readonly Due[]> {
  const { chainId, dustFloor } = chain.row;
  const tokens = rails.map(({ token }) => token.contract);
  const due = await tx
    .select({ orderId: sql<`ord_${string}`>`${chainTransfer.orderId}`, token: chainTransfer.token })
    .from(chainTransfer)
    .where(and(unswept(chainId), sql`${chainTransfer.token} = ANY(${toBytesArray(tokens)})`))
    .groupBy(chainTransfer.orderId, chainTransfer.token)
    .having(sql`sum(${chainTransfer.amount}) >= ${dustFloor.toString()}::numeric`)
    .limit(GROUP);
  if (due.length === 0) return [];
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
  return due.flatMap(({ orderId, token }): Due[] => {
    const order = orders.get(orderId);
    return order ? [{ order, token }] : [];
  });
}

async function signOne(
  engine: Engine,
  tx: Tx,
  open: OpenChain,
  {
    due: { order, token },
    rail,
    sign,
  }: {
    readonly due: Due;
    readonly rail: LiveRail;
    readonly sign: NonNullable<OpenChain["depositAccount"]["sign"]>;
  },
): Promise<boolean> {
  const { chainId, treasury } = open.chain.row;
  const { address, addressIndex: index, merchantId, orderId } = order;
  if (index === null) throw new Error("a deposit lies on an address of ours");
  // Read under the lock: whoever was faster has taken them.
  const logs = await tx
    .select({
      blockHash: chainTransfer.blockHash,
      logIndex: chainTransfer.logIndex,
      amount: chainTransfer.amount,
    })
    .from(chainTransfer)
    .where(and(unswept(chainId), eq(chainTransfer.orderId, orderId), eq(chainTransfer.token, token)))
    .orderBy(asc(chainTransfer.blockNumber), asc(chainTransfer.logIndex))
    .for("update");
  if (logs.length === 0) return false;
  const seq = await nextSeq(tx, { chainId, token, address });
  const life = BigInt(sweepPatience(engine, open) + LIFE_SECONDS);
  const claim = await signClaim(engine, open, rail, {
    ...{ kind: "sweep", merchantId, payableId: orderId, payer: address, payTo: treasury },
    amount: logs.reduce((sum, { amount }) => sum + amount, 0n),
    nonce: sweepNonce({ chainId, token, address, seq }),
    validBefore: (await chainTime(tx, chainId)) + life,
    sign: (digest) => sign(index, digest),
  });
  await insertRows(engine, tx, [claim]);
  await tx.insert(sweep).values({ claimKey: claim.claimKey, chainId, token, address, seq });
  const places = sql`SELECT * FROM unnest(
    ${toBytesArray(logs.map(({ blockHash }) => blockHash))}, ${sql.param(logs.map(({ logIndex }) => logIndex))}::int[])`;
  await tx
    .update(chainTransfer)
    .set({ sweptBy: claim.claimKey })
    .where(
      and(
        eq(chainTransfer.chainId, chainId),
        sql`(${chainTransfer.blockHash}, ${chainTransfer.logIndex}) IN (${places})`,
      ),
    );
  return true;
}

interface Place {
  readonly chainId: number;
  readonly token: Address;
  readonly address: Address;
}

async function nextSeq(tx: Tx, { chainId, token, address }: Place): Promise<number> {
  const [row] = await tx
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

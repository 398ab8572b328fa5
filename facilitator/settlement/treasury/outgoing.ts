import { and, asc, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { type Address, checksum, type Hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { assert, fault } from "#kernel/fault";
import { account, assetOfEvent, freeOf, post, type ReturnSource } from "#ledger";
import { type Executor, fixed, type Tx, toBytesArray, toNumericArray } from "#store";
import { isTaken } from "../../chain/rails.ts";
import type { ChainRow } from "../../chain/registry.ts";
import { insertRows } from "../claim/claim.ts";
import { chainTime, isFarBehind, liveRail, ownClaimKey, readHead, signClaim } from "../claim/own-claim.ts";
import type { ClaimState, OutgoingKind } from "../claim/state.ts";
import { claim } from "../claim/tables.ts";
import { assetOf } from "../coin.ts";
import { depositOrder } from "../deposit/tables.ts";
import { type Engine, type OpenChain, servedChain } from "../engine.ts";
import { most } from "../lane/gas.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { isApproved, needsApproval } from "./approval.ts";
import { leftToday, takeTurns } from "./daily-limit.ts";
import { brokenAssets } from "./reconcile.ts";
import { type ReservedMoney, released, reserved, reservedKey } from "./reservation.ts";
import { isStray } from "./stray.ts";
import { outgoing } from "./tables.ts";

/** Money that a merchant feature wants sent. Amounts in atomic units of `token`. */
export interface OutgoingOrder {
  readonly id: string;
  readonly kind: OutgoingKind;
  readonly merchantId: string;
  readonly chainId: number;
  readonly token: Address;
  readonly recipient: Address;
  /** What leaves. */
  readonly amount: bigint;
  /** Of a refund: the part of `amount` that comes from our fees; 0 unless told. */
  readonly feeShare?: bigint;
  /** Of a return, and needed there: where the money lies, and the clearing it is about. */
  readonly source?: ReturnSource;
  readonly subject?: string;
}

type OutgoingRow = typeof outgoing.$inferSelect;

/** Reserves the money in the books and queues it, in the feature's transaction. Where there is not that much the
 *  transaction fails (SQLSTATE 23514, `ledger_balance_bounded`). Nothing is signed here. Fault: `recipient_is_ours`. */
export async function queueOutgoing({ chains }: Engine, tx: Tx, order: OutgoingOrder): Promise<void> {
  const open = servedChain(chains, order.chainId);
  if (await isOurs(tx, open.chain.row, order.recipient))
    throw fault("recipient_is_ours", { recipient: checksum(order.recipient) });
  const values = { ...order, needsApproval: needsApproval(open.chain.row, order) };
  const [row] = await tx.insert(outgoing).values(values).returning();
  assert(row, "an order that was queued is there");
  await post(tx, [reserved(moneyOf(open.chain.row, row))]);
}

/** Whether nothing can be sent there: it is our treasury, router, or an order's address. For who decides today about money
 *  that is queued later. */
export async function isOurAddress(
  { chains }: Pick<Engine, "chains">,
  db: Executor,
  { chainId, recipient }: Pick<OutgoingOrder, "chainId" | "recipient">,
): Promise<boolean> {
  const open = servedChain(chains, chainId);
  return isOurs(db, open.chain.row, recipient);
}

/** One transfer would be money out and money in; it can be booked as one of them. */
async function isOurs(tx: Executor, { treasury, router }: ChainRow, recipient: Address): Promise<boolean> {
  if (recipient === treasury || recipient === router) return true;
  const orders = await tx
    .select({ orderId: depositOrder.orderId })
    .from(depositOrder)
    .where(eq(depositOrder.address, recipient))
    .limit(1);
  return orders.length > 0;
}

/** Takes an order back that the treasury has not signed; false once it has, or once it is seen to have left all the same, and
 *  while that could not be seen yet. Its token may have left the list meanwhile: what is given back is what was reserved. */
export async function cancelOutgoing(tx: Tx, id: string): Promise<boolean> {
  const isOpen = and(eq(outgoing.id, id), isNull(outgoing.claimKey), isNull(outgoing.cancelledAt));
  const [order] = await tx.select().from(outgoing).where(isOpen).for("update");
  if (!order || !(await wasFollowed(tx, order))) return false;
  if ((await alikeOrders(tx, eq(outgoing.id, id))).some(hasLeft)) return false;
  const asset = await assetOfEvent(tx, reservedKey(order));
  assert(asset, `what ${id} holds is in the books`);
  await tx.update(outgoing).set({ cancelledAt: sql`now()` }).where(eq(outgoing.id, id));
  await post(tx, [released({ ...order, asset })]);
  return true;
}

/** Whether the chain of an order was followed to its head since these books were put back to an earlier time, or at all. */
async function wasFollowed(tx: Tx, { chainId }: OutgoingRow): Promise<boolean> {
  const { followedAt } = observer;
  const [at] = await tx.select({ followedAt }).from(observer).where(eq(observer.chainId, chainId));
  return !!at?.followedAt;
}

/** What the books know of orders, by their ids. */
export async function reservedMoney(
  tx: Tx,
  row: ChainRow,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReservedMoney>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select()
    .from(outgoing)
    .where(inArray(outgoing.id, [...ids]));
  return new Map(rows.map((order) => [order.id, moneyOf(row, order)]));
}

function moneyOf(row: ChainRow, order: OutgoingRow): ReservedMoney {
  const { id, kind, merchantId, amount, feeShare, source, subject } = order;
  return { id, kind, merchantId, asset: assetOf(row, order.token), amount, feeShare, source, subject };
}

/** Where an order stands. `transaction` is null while none was seen in a block. */
export interface OutgoingStatus {
  readonly id: string;
  readonly state: "queued" | "cancelled" | "sending" | "sent" | "final" | "failed";
  readonly transaction: Hash | null;
  readonly failure: string | null;
}

export async function outgoingStatus(
  db: Executor,
  ids: readonly string[],
): Promise<readonly OutgoingStatus[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ row: outgoing, claim })
    .from(outgoing)
    .leftJoin(claim, eq(claim.claimKey, outgoing.claimKey))
    .where(inArray(outgoing.id, [...ids]));
  return rows.map(({ row, claim: paid }) => ({
    id: row.id,
    state: row.cancelledAt ? "cancelled" : paid ? stateNames[paid.state] : "queued",
    transaction: paid?.includedTx ?? null,
    failure: paid?.message ?? null,
  }));
}

const stateNames = {
  claimed: "sending",
  submitting: "sending",
  "failed-watch": "sending",
  review: "sending",
  included: "sent",
  final: "final",
  expired: "failed",
  cancelled: "failed",
} as const satisfies Record<ClaimState, OutgoingStatus["state"]>;

const GROUP = 50;
/** How long the treasury's signature lives. What has not landed by then is released, never sent twice. */
const LIFE_SECONDS = 3_600n;

/** Signs what waits and the treasury has the money for, as the treasury, and commits each authorization as a claim; the
 *  lanes send it like any payment. Money of deposits comes with their sweeps. What is owed in an asset whose books differ
 *  from the chain, or of which something left that nothing here explains, waits too, unless it has left already, and holds
 *  nobody else up; so does what is beyond the operator's daily limit, or not approved. While no lane here `canSend`, all waits that
 *  has not left: what is signed has an hour to land, and fails after it. Returns how many. */
export async function signOutgoing(
  engine: Engine,
  open: OpenChain,
  { canSend }: { readonly canSend: boolean },
): Promise<number> {
  const { custodian, chain } = open;
  if (!custodian) return 0;
  const { chainId, treasury } = chain.row;
  const live = open.rails.filter(isTaken).map(({ token }) => token.contract);
  const head = await readHead(open);
  if (!head) return 0;
  return engine.loopDb.tx(async (tx) => {
    const followedTo = await chainTime(tx, chainId);
    if (isFarBehind(head, followedTo)) return 0;
    const [broken, stray] = [await brokenAssets(tx, chainId), await strayTokens(tx, open)];
    const isSound = (token: Address) => !broken.has(assetOf(chain.row, token)) && !stray.has(token);
    const departed = await findDeparted(
      tx,
      chain.row,
      live.filter((token) => !isSound(token)),
    );
    const validBefore = most(followedTo, BigInt(head.timestamp)) + LIFE_SECONDS;
    const free = new Map<Address, bigint>();
    await takeTurns(tx, chain.row);
    for (const token of live.filter(isSound)) free.set(token, await spendable(tx, chain.row, token));
    let signed = 0;
    for (const order of [...departed, ...(canSend ? await waiting(tx, chainId, free) : [])]) {
      const { id, kind, merchantId, token, recipient, amount } = order;
      const rail = liveRail(open, token);
      const left = (free.get(token) ?? 0n) - amount;
      if (!rail || (left < 0n && !departed.includes(order))) continue;
      free.set(token, left);
      const made = await signClaim(engine, open, rail, {
        ...{ kind, merchantId, payableId: id, payer: treasury, payTo: recipient, amount, validBefore },
        nonce: nonceOf(order),
        sign: custodian.sign,
      });
      await insertRows(engine, tx, [made]);
      await tx
        .update(outgoing)
        .set({ claimKey: made.claimKey, signedAt: sql`now()` })
        .where(eq(outgoing.id, id));
      signed += 1;
    }
    return signed;
  });
}

const nonceOf = ({ id }: Pick<OutgoingRow, "id">) => sha256("farebox/outgoing/v1", id);

/** Of which something left the treasury by no order that is signed here. */
async function strayTokens(tx: Tx, open: OpenChain): Promise<ReadonlySet<Address>> {
  const rows = await tx
    .selectDistinct({ token: chainTransfer.token })
    .from(chainTransfer)
    .where(isStray(open.chain.row));
  return new Set(rows.map(({ token }) => token));
}

/** Orders that are not signed here and have left all the same: the books were put back to an earlier time. Each is known by
 *  its authorization, which follows from it; to sign it once more moves nothing, and lets the books follow the chain. */
async function findDeparted(
  tx: Tx,
  row: ChainRow,
  tokens: readonly Address[],
): Promise<readonly OutgoingRow[]> {
  if (tokens.length === 0) return [];
  const rows = await alikeOrders(tx, ofTreasury(row, tokens)).for("update", {
    of: outgoing,
    skipLocked: true,
  });
  return rows.filter(hasLeft).map(({ order }) => order);
}

/** Keys of the authorizations of such orders. */
export async function departedKeys(db: Executor, row: ChainRow): Promise<ReadonlySet<Hash>> {
  const tokens = row.tokens.map(({ contract }) => contract);
  const rows = await alikeOrders(db, ofTreasury(row, tokens));
  return new Set(rows.filter(hasLeft).flatMap(({ key }) => key ?? []));
}

interface Alike {
  readonly order: OutgoingRow;
  readonly sender: Address;
  readonly key: Hash | null;
}

const hasLeft = ({ order, sender, key }: Alike) =>
  key === ownClaimKey(order.chainId, { token: order.token, payer: sender, nonce: nonceOf(order) });

/** Orders that are not signed here, each with a transfer that nobody booked and that is like it. */
function alikeOrders(db: Executor, which: SQL | undefined) {
  const alike = and(
    eq(chainTransfer.chainId, outgoing.chainId),
    eq(chainTransfer.token, outgoing.token),
    eq(chainTransfer.recipient, outgoing.recipient),
    eq(chainTransfer.amount, outgoing.amount),
  );
  return db
    .select({ order: outgoing, sender: chainTransfer.sender, key: chainTransfer.authorizationKey })
    .from(outgoing)
    .innerJoin(chainTransfer, alike)
    .where(
      and(
        which,
        isNull(outgoing.claimKey),
        isNull(outgoing.cancelledAt),
        fixed(eq(chainTransfer.canonical, true)),
        isNull(chainTransfer.claimedKind),
      ),
    );
}

const ofTreasury = ({ chainId, treasury }: ChainRow, tokens: readonly Address[]) =>
  and(
    eq(outgoing.chainId, chainId),
    eq(chainTransfer.sender, treasury),
    sql`${chainTransfer.token} = ANY(${toBytesArray([...tokens])})`,
  );

/** What may be signed of a token now. */
async function spendable(tx: Tx, row: ChainRow, token: Address): Promise<bigint> {
  const [free, left] = [await freeMoney(tx, row, token), await leftToday(tx, row, token)];
  return left !== null && left < free ? left : free;
}

/** What the treasury can part with of a token, by the books: what is final there, less what is on its way out. Two
 *  processes may spend it at the same time; the check before sending holds the second one back. */
async function freeMoney(tx: Tx, row: ChainRow, token: Address): Promise<bigint> {
  const [leaving] = await tx
    .select({ amount: sql<string>`coalesce(sum(${claim.amount}), 0)` })
    .from(claim)
    .where(
      and(
        eq(claim.chainId, row.chainId),
        eq(claim.token, token),
        eq(claim.payer, row.treasury),
        sql`${claim.state} IN ('claimed','submitting')`,
      ),
    );
  return (await freeOf(tx, account.treasury(assetOf(row, token)))) - BigInt(leaving?.amount ?? 0);
}

/** The oldest that `free` has the money for: those that wait for more must not hide the others. */
function waiting(
  tx: Tx,
  chainId: number,
  free: ReadonlyMap<Address, bigint>,
): Promise<(typeof outgoing.$inferSelect)[]> {
  const purses = sql`unnest(${toBytesArray([...free.keys()])}, ${toNumericArray([...free.values()])}) AS purse(token, free)`;
  return tx
    .select()
    .from(outgoing)
    .where(
      and(
        eq(outgoing.chainId, chainId),
        isNull(outgoing.claimKey),
        isNull(outgoing.cancelledAt),
        isApproved,
        sql`EXISTS (SELECT FROM ${purses} WHERE purse.token = ${outgoing.token} AND purse.free >= ${outgoing.amount})`,
      ),
    )
    .orderBy(asc(outgoing.createdAt))
    .limit(GROUP)
    .for("update", { skipLocked: true });
}

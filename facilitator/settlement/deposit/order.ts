import { eq, sql } from "drizzle-orm";
import type { Address, Hash, Hex } from "#kernel/bytes";
import { assert, fault } from "#kernel/fault";
import type { Tx } from "#store";
import { orderDigest } from "../../chain/evm/order.ts";
import type { LiveRail } from "../../chain/port.ts";
import { type Engine, namedChain, type OpenChain, servedChain } from "../engine.ts";
import { type DepositPath, depositAddressIndex, depositOrder } from "./tables.ts";

/** What a payer shall be asked to pay. */
export interface DepositOrder {
  readonly orderId: `ord_${string}`;
  readonly merchantId: string;
  /** What is told with each fact: the clearing's id. */
  readonly subject: string;
  readonly path: DepositPath;
  /** Slug. */
  readonly chain: string;
  /** Symbol. */
  readonly asset: string;
  /** Atomic units of the asset. */
  readonly amount: bigint;
  readonly paymentRef: Hash;
  /** Deadline of the signed order; whole seconds count. */
  readonly expiresAt: Date;
}

/** An order that payers can be shown. */
export interface OpenedOrder {
  /** Where it is paid: an address of its own, or the router. */
  readonly address: Address;
  /** Whom the money reaches: that address, or the treasury. */
  readonly payTo: Address;
  readonly token: Address;
  /** Unix seconds. */
  readonly deadline: bigint;
  /** The operator's, over the order's EIP-712 digest. */
  readonly signature: Hex;
}

type OrderRow = typeof depositOrder.$inferSelect;

const WATCHED_MS = 90 * 86_400_000;

/** Registers and signs an order, and watches for its money from the caller's commit on. Its chain, rail and, for a payment
 *  through it, router must be there: the caller chose from `rails()`. */
export async function openOrder(engine: Engine, tx: Tx, order: DepositOrder): Promise<OpenedOrder> {
  const { orderId, merchantId, subject, path, amount, paymentRef, expiresAt } = order;
  const open = chainNamed(engine, order.chain);
  const rail = open.rails.find((each): each is LiveRail => each.ok && each.token.symbol === order.asset);
  assert(rail, `${order.asset} is a rail of ${order.chain}`);
  const [row] = await tx
    .insert(depositOrder)
    .values({
      ...{ orderId, merchantId, subject, path, amount, paymentRef },
      chainId: open.chain.row.chainId,
      token: rail.token.contract,
      ...(path === "deposit-match" ? await ownAddress(tx, open) : { address: routerOf(open) }),
      deadline: wholeSeconds(expiresAt),
      watchedUntil: new Date(engine.clock.now().getTime() + WATCHED_MS),
    })
    .returning();
  assert(row, "an order that was opened is there");
  return sign(open, row);
}

/** The same order with the same terms, signed for another deadline. While its address is watched it is watched anew. */
export async function resignOrder(
  engine: Engine,
  tx: Tx,
  orderId: string,
  expiresAt: Date,
): Promise<OpenedOrder> {
  const now = engine.clock.now();
  const until = new Date(now.getTime() + WATCHED_MS).toISOString();
  const [row] = await tx
    .update(depositOrder)
    .set({
      deadline: wholeSeconds(expiresAt),
      // An address that nobody watches any more stays so: what came to it meanwhile was not seen.
      watchedUntil: sql`CASE WHEN ${depositOrder.watchedUntil} > ${now.toISOString()}
        THEN greatest(${depositOrder.watchedUntil}, ${until}::timestamptz) ELSE ${depositOrder.watchedUntil} END`,
      writtenIn: sql`DEFAULT`,
    })
    .where(eq(depositOrder.orderId, orderId as OrderRow["orderId"]))
    .returning();
  assert(row, `order ${orderId} is registered`);
  return sign(servedChain(engine.chains, row.chainId), row);
}

/** The next address of the deposit account. An index is never given twice, not even when the transaction is undone. */
async function ownAddress(tx: Tx, { depositAccount }: OpenChain) {
  const { rows } = await tx.execute<{ index: string }>(
    sql`SELECT nextval(${depositAddressIndex.seqName}) AS index`,
  );
  const addressIndex = Number(rows[0]?.index);
  return { addressIndex, address: depositAccount.addressOf(addressIndex) };
}

async function sign(open: OpenChain, row: OrderRow): Promise<OpenedOrder> {
  const { chainId, router, treasury } = open.chain.row;
  const isOwn = row.addressIndex !== null;
  const address = isOwn ? row.address : routerOf(open);
  const payTo = isOwn ? row.address : treasury;
  const deadline = BigInt(row.deadline.getTime() / 1000);
  const { paymentRef, token, amount } = row;
  const digest = orderDigest({ chainId, router }, { paymentRef, token, payTo, amount, deadline });
  return { address, payTo, token, deadline, signature: await open.operator.sign(digest) };
}

function routerOf({ chain: { row } }: OpenChain): Address {
  assert(row.router, `${row.slug} has a router`);
  return row.router;
}

export function chainNamed({ chains }: Engine, slug: string): OpenChain {
  const open = namedChain(chains, slug);
  if (!open) throw fault("chain_unavailable", { chain: slug });
  return open;
}

function wholeSeconds(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1000) * 1000);
}

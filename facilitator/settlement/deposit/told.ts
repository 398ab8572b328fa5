import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { fixed, outbox, type Tx, toBytesArray } from "#store";
import type { Engine } from "../engine.ts";
import { depositOrder } from "./tables.ts";
import type { Told } from "./watch.ts";

/** Says of orders that what has reached them is no longer what it was; a hint, to be looked up. Once each. */
export async function tellDeposits(engine: Engine, tx: Tx, orders: readonly Told[]): Promise<void> {
  const byId = new Map(orders.map((order) => [order.orderId, order]));
  const facts = [...byId.values()].map(
    ({ orderId, subject, merchantId }): outbox.Fact => ({
      id: engine.newId("evt"),
      type: "deposit.changed",
      subject,
      merchantId,
      payload: { orderId },
    }),
  );
  await outbox.append(tx, facts);
}

const told = {
  orderId: depositOrder.orderId,
  subject: depositOrder.subject,
  merchantId: depositOrder.merchantId,
};

export async function ordersById(tx: Tx, ids: readonly string[]): Promise<readonly Told[]> {
  if (ids.length === 0) return [];
  const wanted = ids as readonly (typeof depositOrder.$inferSelect)["orderId"][];
  return tx
    .select(told)
    .from(depositOrder)
    .where(inArray(depositOrder.orderId, [...wanted]));
}

/** Orders that may be paid through a chain's router under these references. The newest first: it is the one that a payer is
 *  shown, and one that it replaced may have asked for the same. */
export async function ordersByReference(tx: Tx, chainId: number, references: readonly Hash[]) {
  if (references.length === 0) return [];
  const { paymentRef, token, amount } = depositOrder;
  return tx
    .select({ ...told, paymentRef, token, amount })
    .from(depositOrder)
    .where(
      and(
        eq(depositOrder.chainId, chainId),
        fixed(eq(depositOrder.path, "on-chain-contract")),
        sql`${paymentRef} = ANY(${toBytesArray(references)})`,
      ),
    )
    .orderBy(desc(depositOrder.createdAt), desc(depositOrder.orderId));
}

import { and, eq } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { fromBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { keccak256 } from "#kernel/keccak";
import type { Tx } from "#store";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import type { PricedRail } from "../payment-intent/verbs/rails.ts";
import { lockWindow } from "../rate/verbs.ts";
import type { ClearingDesk } from "./desk.ts";
import type { ClearingRow } from "./money.ts";
import type { OrderState } from "./state.ts";
import { clearingOrder } from "./tables.ts";

export type OrderRow = typeof clearingOrder.$inferSelect;
type Ordering = Pick<ClearingDesk, "facilitator" | "newId" | "now">;

/** What the payer and the router know the payment by. */
export function paymentRefOf(intentId: string): Hash {
  return fromBytes(keccak256(new TextEncoder().encode(intentId))) as Hash;
}

/** How long the money has after a rate was locked: as the merchant asked, within what such a rate allows. Source:
 *  merchant-api.md §3.6. */
export function windowEnd(
  { expiresInSeconds, createdAt }: Pick<IntentRow, "expiresInSeconds" | "createdAt">,
  { source }: Pick<PricedRail["rate"], "source">,
  now: Date,
): Date {
  const { seconds, least, most } = lockWindow(source);
  const asked =
    expiresInSeconds === null ? seconds : (createdAt.getTime() - now.getTime()) / 1000 + expiresInSeconds;
  return new Date(now.getTime() + Math.min(Math.max(asked, least), most) * 1000);
}

export interface NewOrder {
  readonly merchantId: string;
  readonly clearingId: string;
  readonly intentId: string;
  readonly seq: number;
  readonly path: OrderRow["path"];
  readonly priced: PricedRail;
  readonly rateId: `rate_${string}`;
  readonly expiresAt: Date;
}

/** Signs an order and watches for its money; from the commit on it can be paid. Its row is the caller's to keep, once its
 *  clearing is there. */
export async function openOrder(
  tx: Tx,
  { facilitator, newId, now }: Ordering,
  order: NewOrder,
): Promise<OrderRow> {
  const { merchantId, clearingId, seq, path, priced, rateId, expiresAt } = order;
  const id = newId("ord");
  const { rail, due } = priced;
  const opened = await facilitator.deposits.open(tx, {
    orderId: id,
    merchantId,
    subject: clearingId,
    path,
    chain: rail.chain,
    asset: rail.asset,
    amount: due.amount,
    paymentRef: paymentRefOf(order.intentId),
    expiresAt,
  });
  const { address, payTo, token, signature } = opened;
  const row = {
    ...{ merchantId, clearingId, seq, id, path, rateId, address, payTo, token, signature },
    chain: rail.chain,
    asset: rail.asset,
    amount: due.amount,
    validFrom: now(),
    expiresAt: deadlineOf(opened),
    state: "active" as const,
  };
  return row;
}

export async function keepOrder(tx: Tx, row: OrderRow): Promise<void> {
  await tx.insert(clearingOrder).values(row);
}

/** The same terms for another deadline: address, token, amount, rate and its moment stay. Source: interface §3. */
export async function resignOrder(
  tx: Tx,
  { facilitator }: Ordering,
  order: OrderRow,
  expiresAt: Date,
): Promise<OrderRow> {
  const opened = await facilitator.deposits.resign(tx, order.id, expiresAt);
  const { address, payTo, token, signature } = opened;
  assert(
    address === order.address && payTo === order.payTo && token === order.token,
    "an order's terms never change",
  );
  return setOrder(tx, order, { signature, expiresAt: deadlineOf(opened), state: "active" });
}

export function markOrder(tx: Tx, order: OrderRow, state: OrderState): Promise<OrderRow> {
  return setOrder(tx, order, { state });
}

async function setOrder(tx: Tx, order: OrderRow, set: Partial<OrderRow>): Promise<OrderRow> {
  const { merchantId, clearingId, seq } = clearingOrder;
  const [row] = await tx
    .update(clearingOrder)
    .set(set)
    .where(and(eq(merchantId, order.merchantId), eq(clearingId, order.clearingId), eq(seq, order.seq)))
    .returning();
  assert(row, "an order of a clearing that is held is there");
  return row;
}

function deadlineOf({ deadline }: { readonly deadline: bigint }): Date {
  return new Date(Number(deadline) * 1000);
}

/** The order that can be paid; null where none was made. */
export function liveOrder(
  orders: readonly OrderRow[],
  { orderSeq }: Pick<ClearingRow, "orderSeq">,
): OrderRow | null {
  return orders.find(({ seq }) => seq === orderSeq) ?? null;
}

import { and, eq } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import type { Tx } from "#store";
import { clearing } from "../../clearing/tables.ts";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { presentRefund, type RefundRow } from "../present.ts";
import type { Refund, RefundDestination, RefundPath } from "../schema.ts";
import { checkDestination } from "./destination.ts";
import { lockRefund, type Mover, moveRefund } from "./move.ts";
import { isPosted, type RefundDesk, release, reserve } from "./reserve.ts";

/** Says whom to pay, where that could not be told. Said again it changes nothing. Faults: `not_found`,
 *  `refund_has_destination`, `validation_failed`, `recipient_is_ours`, `insufficient_balance`, `rail_unsupported`. */
export async function giveDestination(
  desk: RefundDesk,
  { ctx, input }: Call<RefundPath & RefundDestination>,
): Promise<Refund> {
  ctx.demand("refunds:write");
  return ctx.tx(async (tx) => {
    const row = await lockRefund(tx, { merchantId: ctx.merchantId, id: input.id });
    const at = { chain: row.chain, asset: row.asset, pointer: "/address" };
    const destination = await checkDestination(desk, tx, input.address, at);
    if (row.destination === destination) return presentRefund(row);
    if (row.state !== "requires-destination") throw fault("refund_has_destination", { state: row.state });
    return presentRefund(await sendTo(desk, tx, ctx, { row, destination }));
  });
}

/** The same for whoever else may say whom to pay, in the transaction that holds the refund; it waits for an address. */
export async function sendTo(
  desk: RefundDesk,
  tx: Tx,
  mover: Mover,
  { row, destination }: { readonly row: RefundRow; readonly destination: Address },
): Promise<RefundRow> {
  const now = mover.now();
  const changes = { destination, dueAt: now };
  const moved = await moveRefund(tx, mover, { row, trigger: "address", changes });
  if (!(await isItsPaymentPosted(tx, moved))) return moved;
  // It was promised: what others were promised is no less for it.
  return reserve(desk, tx, moved, now);
}

/** Takes a refund back that has not been signed; a cancelled one comes back as it is. Faults: `not_found`,
 *  `refund_not_cancellable`. */
export async function cancelRefund(desk: RefundDesk, { ctx, input }: Call<RefundPath>): Promise<Refund> {
  ctx.demand("refunds:write");
  return ctx.tx(async (tx) => {
    const row = await lockRefund(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "cancelled") return presentRefund(row);
    const isOpen = row.state === "pending" || row.state === "requires-destination";
    if (!isOpen || !(await release(desk, tx, row)))
      throw fault("refund_not_cancellable", { state: row.state });
    return presentRefund(await moveRefund(tx, ctx, { row, trigger: "cancel" }));
  });
}

/** Whether what a refund's payment brought can be spent. What is final stays so: the clearing need not be held. */
export async function isItsPaymentPosted(tx: Tx, { merchantId, clearingId }: RefundRow): Promise<boolean> {
  const [paid] = await tx
    .select()
    .from(clearing)
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, clearingId)));
  assert(paid, `clearing ${clearingId} is gone`);
  return isPosted(tx, paid);
}

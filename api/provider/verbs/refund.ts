import { and, eq } from "drizzle-orm";
import { ledgerAsset } from "#kernel/asset";
import { post, templates } from "#ledger";
import type { Tx } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { findRefund, lockRefund, moveRefund } from "../../refund/verbs/move.ts";
import { release } from "../../refund/verbs/reserve.ts";
import type { ProviderAdapter, RefundStatus } from "../port.ts";
import { providerOrder } from "../tables.ts";
import type { Looked, ProviderDesk } from "./desk.ts";
import { isIt, type OrderRow } from "./order.ts";

const SOON_MS = 10_000;
const open: ReadonlySet<string> = new Set(["pending", "processing"]);

/** Has the provider send a refund's money back, once it is locked in the books, and follows it until it has gone. */
export async function attendRefund(
  desk: ProviderDesk,
  adapter: ProviderAdapter,
  order: OrderRow,
): Promise<Looked> {
  const { merchantId, id } = order;
  const row = await findRefund(desk.db.pool, { merchantId, id });
  if (!open.has(row.state)) return { againMs: null };
  if (row.reservedAt === null || !(await send(desk, order))) return { againMs: SOON_MS };
  const status = order.reference
    ? await adapter.getRefund(order.reference)
    : await adapter.refund({ id, reference: await referenceOf(desk, row), amount: row.amount });
  await follow(desk, order, status);
  return { againMs: status.state === "pending" ? SOON_MS : null };
}

/** From here on the merchant cannot cancel it; committed before the provider is asked. False when it was cancelled. */
async function send({ db, keeping }: ProviderDesk, { merchantId, id }: OrderRow): Promise<boolean> {
  return db.tx(async (tx) => {
    const row = await lockRefund(tx, { merchantId, id });
    if (row.state === "pending") await moveRefund(tx, keeping, { row, trigger: "send" });
    return open.has(row.state);
  });
}

/** What the provider calls the payment. */
async function referenceOf(
  { db }: ProviderDesk,
  { merchantId, clearingId }: { readonly merchantId: string; readonly clearingId: `clr_${string}` },
): Promise<string> {
  const [row] = await db.pool
    .select({ reference: clearing.providerReference })
    .from(clearing)
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, clearingId)));
  if (!row?.reference) throw new Error("a payment that the provider never took cannot be refunded there");
  return row.reference;
}

async function follow(desk: ProviderDesk, order: OrderRow, status: RefundStatus): Promise<void> {
  await desk.db.tx(async (tx) => {
    const { merchantId, id } = order;
    const row = await lockRefund(tx, { merchantId, id });
    if (order.reference === null) await name(tx, order, status);
    if (row.state !== "processing" || status.state === "pending") return;
    const changes = { providerReference: status.reference };
    if (status.state === "succeeded") {
      const asset = ledgerAsset(row.asset, row.chain);
      const sent = { asset, reference: status.reference, amount: row.amount, refundId: id, merchantId };
      await post(tx, [templates.providerRefunded(sent)]);
      await moveRefund(tx, desk.keeping, { row, trigger: "succeed", changes });
      return;
    }
    await release(desk.refunds, tx, row);
    const failureReason = "The provider could not send it. Nothing left, and the money is available again.";
    await moveRefund(tx, desk.keeping, { row, trigger: "fail", changes: { ...changes, failureReason } });
  });
}

async function name(tx: Tx, order: OrderRow, { reference }: RefundStatus): Promise<void> {
  await tx.update(providerOrder).set({ reference }).where(isIt(order));
}

import type { Facilitator } from "#facilitator";
import { ledgerAsset } from "#kernel/asset";
import { assert } from "#kernel/fault";
import { hasPosted, post, templates } from "#ledger";
import { type Executor, isCheckViolation, type Tx } from "#store";
import type { ClearingRow } from "../../clearing/verbs/payment.ts";
import type { RefundRow } from "../present.ts";
import { refund } from "../tables.ts";
import { isIt } from "./move.ts";
import { shortOf } from "./promise.ts";
import { tokenOf } from "./token.ts";

/** What refunds need besides the request. */
export interface RefundDesk {
  readonly facilitator: Pick<Facilitator, "chains" | "rails" | "payments" | "outgoing" | "hasCode">;
}

/** Hears of what happens to the money are hints; this often it is looked at without any. */
export const LOOK_EVERY_MS = 30_000;

/** Whether the merchant may spend what the payment brought: its block is final. Of an agent's payment the books say it
 *  first. */
export async function isPosted(db: Executor, paid: ClearingRow): Promise<boolean> {
  if (paid.executionPath !== "x402") return paid.isFinal;
  return paid.providerReference !== null && hasPosted(db, paid.providerReference);
}

/** What leaves the merchant's own money; the rest comes from our fees. */
export function netOf({ amount, fee, returnsFee }: Pick<RefundRow, "amount" | "fee" | "returnsFee">): bigint {
  return returnsFee ? amount - fee : amount;
}

/** Locks the money of a refund in the books, once its payment is posted, and queues it for the lanes; of a payment through
 *  a provider it is that provider's feature which goes on from there. Faults: `insufficient_balance`, `rail_unsupported`
 *  when the payment's rail is no longer served. */
export async function reserve(desk: RefundDesk, tx: Tx, row: RefundRow, now: Date): Promise<RefundRow> {
  assert(row.state === "pending" && row.reservedAt === null, "a refund is reserved once, when it can go");
  try {
    if (isOurs(row)) await queue(desk, tx, row);
    else await post(tx, [templates.refundCreated(moneyOf(row))]);
  } catch (error) {
    if (!isCheckViolation(error, "ledger_balance_bounded")) throw error;
    throw shortOf(row, netOf(row), error);
  }
  const dueAt = isOurs(row) ? new Date(now.getTime() + LOOK_EVERY_MS) : null;
  const [reserved] = await tx
    .update(refund)
    .set({ reservedAt: now, dueAt, updatedAt: now })
    .where(isIt(row))
    .returning();
  assert(reserved, "a refund that is held is gone");
  return reserved;
}

/** Whether the lanes carry it. */
export function isOurs({ provider }: Pick<RefundRow, "provider">): boolean {
  return provider === "evm";
}

async function queue({ facilitator }: RefundDesk, tx: Tx, row: RefundRow): Promise<void> {
  const { chain, asset, merchantId, id, amount, destination } = row;
  assert(destination, "a refund that can go has an address");
  await facilitator.outgoing.queue(tx, {
    id,
    kind: "refund",
    merchantId,
    ...tokenOf(facilitator, { chain, asset }),
    recipient: destination,
    amount,
    feeShare: amount - netOf(row),
  });
}

/** Frees what a refund holds; false once the treasury has signed it. A refund that ended unpaid in the lanes was freed
 *  there. */
export async function release({ facilitator }: RefundDesk, tx: Tx, row: RefundRow): Promise<boolean> {
  if (row.reservedAt === null) return true;
  if (isOurs(row)) return facilitator.outgoing.cancel(tx, row.id);
  await post(tx, [templates.refundReleased(moneyOf(row))]);
  return true;
}

function moneyOf(row: RefundRow) {
  const net = netOf(row);
  const { id, merchantId, asset, chain, amount } = row;
  return { refundId: id, merchantId, asset: ledgerAsset(asset, chain), net, feeShare: amount - net };
}

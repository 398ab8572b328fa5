import type { Facilitator } from "#facilitator";
import { address } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { isCheckViolation, type Tx } from "#store";
import type { clearing } from "../../clearing/tables.ts";
import { fault } from "../../http/faults.ts";
import type { RefundRow } from "../present.ts";
import { refund } from "../tables.ts";
import { isIt } from "./move.ts";
import { shortOf } from "./promise.ts";

/** What refunds need besides the request. */
export interface RefundDesk {
  readonly facilitator: Pick<Facilitator, "rails" | "payments" | "outgoing" | "hasCode">;
}

/** Hears of what happens to the money are hints; this often it is looked at without any. */
export const LOOK_EVERY_MS = 30_000;

/** Whether the merchant may spend what the payment brought: its block is final. */
export function isPosted({
  state,
  isFinal,
}: Pick<typeof clearing.$inferSelect, "state" | "isFinal">): boolean {
  return state === "settled" && isFinal;
}

/** What leaves the merchant's own money; the rest comes from our fees. */
export function netOf({ amount, fee, returnsFee }: Pick<RefundRow, "amount" | "fee" | "returnsFee">): bigint {
  return returnsFee ? amount - fee : amount;
}

/** Locks the money of a refund in the books and queues it for the lanes, once its payment is posted. Faults:
 *  `insufficient_balance`, `rail_unsupported` when the payment's rail is no longer served. */
export async function reserve(
  { facilitator }: RefundDesk,
  tx: Tx,
  row: RefundRow,
  now: Date,
): Promise<RefundRow> {
  assert(row.destination && row.reservedAt === null, "a refund is reserved once, when it has an address");
  const { chain, asset, merchantId, id, amount } = row;
  const rail = facilitator.rails().find((each) => each.chain === chain && each.asset === asset);
  if (!rail) throw fault("rail_unsupported", { rail: `${asset}@${chain}` });
  const order = {
    id,
    kind: "refund" as const,
    merchantId,
    chainId: rail.domain.chainId,
    token: address(rail.contract),
    recipient: row.destination,
    amount,
    feeShare: amount - netOf(row),
  };
  try {
    await facilitator.outgoing.queue(tx, order);
  } catch (error) {
    if (!isCheckViolation(error, "ledger_balance_bounded")) throw error;
    throw shortOf(row, netOf(row), error);
  }
  const [reserved] = await tx
    .update(refund)
    .set({ reservedAt: now, dueAt: new Date(now.getTime() + LOOK_EVERY_MS), updatedAt: now })
    .where(isIt(row))
    .returning();
  assert(reserved, "a refund that is held is gone");
  return reserved;
}

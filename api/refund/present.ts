import { checksum } from "#kernel/bytes";
import { presentAmount } from "../http/money.ts";
import type { Refund } from "./schema.ts";
import type { refund } from "./tables.ts";

export type RefundRow = typeof refund.$inferSelect;

/** As its merchant sees it. Source: interface §2.6. */
export function presentRefund(row: RefundRow): Refund {
  return {
    id: row.id,
    paymentIntentId: row.intentId,
    amount: presentAmount(row),
    state: row.state,
    reason: row.reason,
    chain: row.chain,
    destination: row.destination && checksum(row.destination),
    providerReference: row.providerReference,
    failureReason: row.failureReason,
    metadata: { ...row.metadata },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

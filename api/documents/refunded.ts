import { and, desc, eq } from "drizzle-orm";
import type { Executor } from "#store";
import type { ClearingRow } from "../clearing/verbs/payment.ts";
import { presentAmount } from "../http/money.ts";
import { refund } from "../refund/tables.ts";

export type RefundRow = typeof refund.$inferSelect;

/** Across the top of a document of which the money went back. */
export const stampsOfRefund = {
  all: { word: "REFUNDED", mood: "over" },
  part: { word: "PARTLY REFUNDED", mood: "good" },
} as const;

/** Newest first, whatever became of them. */
export async function refundsOf(
  db: Executor,
  { merchantId, id }: Pick<ClearingRow, "merchantId" | "id">,
): Promise<readonly RefundRow[]> {
  return db
    .select()
    .from(refund)
    .where(and(eq(refund.merchantId, merchantId), eq(refund.clearingId, id)))
    .orderBy(desc(refund.id));
}

/** What of a settled payment has arrived at its payer again. */
export interface Refunded {
  readonly part: keyof typeof stampsOfRefund;
  /** `4.00 USDC of 10.00 USDC` */
  readonly line: string;
}

/** Null where nothing has. Pure. */
export function refundedOf(
  { settlementAmount, asset }: Pick<ClearingRow, "settlementAmount" | "asset">,
  refunds: readonly Pick<RefundRow, "state" | "amount">[],
): Refunded | null {
  const arrived = refunds
    .filter(({ state }) => state === "succeeded")
    .reduce((sum, { amount }) => sum + amount, 0n);
  if (arrived === 0n) return null;
  const coins = (amount: bigint) => presentAmount({ amount, asset }).formatted;
  return {
    part: arrived < settlementAmount ? "part" : "all",
    line: `${coins(arrived)} of ${coins(settlementAmount)}`,
  };
}

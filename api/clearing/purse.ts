import { and, asc, eq } from "drizzle-orm";
import type { Executor } from "#store";
import type { ClearingRow, DepositRow, ReturnRow } from "./money.ts";
import type { OrderRow } from "./orders.ts";
import { clearingDeposit, clearingOrder, clearingReturn } from "./tables.ts";

/** What is written down of a clearing's money. */
export interface Purse {
  /** When the clearing was due as it was locked. */
  readonly dueAt: Date | null;
  readonly orders: readonly OrderRow[];
  readonly deposits: readonly DepositRow[];
  readonly returns: readonly ReturnRow[];
}

export async function loadPurse(
  db: Executor,
  { merchantId, id, dueAt }: Pick<ClearingRow, "merchantId" | "id" | "dueAt">,
): Promise<Purse> {
  return {
    dueAt,
    orders: await db
      .select()
      .from(clearingOrder)
      .where(and(eq(clearingOrder.merchantId, merchantId), eq(clearingOrder.clearingId, id)))
      .orderBy(asc(clearingOrder.seq)),
    deposits: await db
      .select()
      .from(clearingDeposit)
      .where(and(eq(clearingDeposit.merchantId, merchantId), eq(clearingDeposit.clearingId, id)))
      .orderBy(asc(clearingDeposit.id)),
    returns: await db
      .select()
      .from(clearingReturn)
      .where(and(eq(clearingReturn.merchantId, merchantId), eq(clearingReturn.clearingId, id)))
      .orderBy(asc(clearingReturn.id)),
  };
}

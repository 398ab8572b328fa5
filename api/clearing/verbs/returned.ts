import { and, asc, eq } from "drizzle-orm";
import { checksum } from "#kernel/bytes";
import type { Executor } from "#store";
import type { Call } from "../../http/context.ts";
import { type Money, presentAmount } from "../../http/money.ts";
import type { ClearingRow, ReturnRow } from "../money.ts";
import type { PaymentPath } from "../schema.ts";
import { clearingReturn } from "../tables.ts";
import { findPayment, type PaymentDesk } from "./payment.ts";

/** Money that goes back to who sent it, and how far it is. */
export interface Returned extends Pick<ReturnRow, "id" | "asset" | "chain" | "state" | "note"> {
  readonly amount: Money;
  readonly destination: string;
  /** Null until it is in a block. */
  readonly transactionHash: string | null;
  /** Null too where nobody keeps an explorer of its chain. */
  readonly explorerUrl: string | null;
}

/** What of a clearing's money went back, is on its way, or could not be sent; in the order in which it was decided. */
export async function returnedOf(
  { facilitator }: Pick<PaymentDesk, "facilitator">,
  db: Executor,
  { merchantId, id }: Pick<ClearingRow, "merchantId" | "id">,
): Promise<readonly Returned[]> {
  const rows = await db
    .select()
    .from(clearingReturn)
    .where(and(eq(clearingReturn.merchantId, merchantId), eq(clearingReturn.clearingId, id)))
    .orderBy(asc(clearingReturn.id));
  if (rows.length === 0) return [];
  const sent = await facilitator.outgoing.status(rows.map((row) => row.id));
  const transactions = new Map(sent.map((order) => [order.id, order.transaction]));
  const chains = new Map(facilitator.chains().map(({ chain, explorer }) => [chain, explorer]));
  return rows.map(({ amount, asset, chain, destination, state, note, ...row }) => {
    const transactionHash = transactions.get(row.id) ?? null;
    const explorer = chains.get(chain) ?? null;
    return {
      id: row.id,
      amount: presentAmount({ amount, asset }),
      ...{ asset, chain, destination: checksum(destination), state, note, transactionHash },
      explorerUrl: explorer && transactionHash && `${explorer}/tx/${transactionHash}`,
    };
  });
}

/** The same for the merchant whose payment it is. Fault: `not_found`. */
export async function readReturned(
  desk: Pick<PaymentDesk, "facilitator">,
  { ctx, input }: Call<PaymentPath>,
): Promise<readonly Returned[]> {
  ctx.demand("payments:read");
  const { pool } = ctx.db;
  const { clearing } = await findPayment(pool, ctx.merchantId, input.id);
  return clearing ? returnedOf(desk, pool, clearing) : [];
}

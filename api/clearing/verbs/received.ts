import type { Facilitator } from "#facilitator";
import type { Executor } from "#store";
import { leastOf, lyingOf, requiredFor, sum } from "../money.ts";
import { liveOrder } from "../orders.ts";
import { loadPurse, type Purse } from "../purse.ts";
import type { ClearingRow } from "./payment.ts";

/** What came for a settled payment against what was due, in atomic units of its rail's asset. */
export interface Received {
  readonly came: bigint;
  /** Less than was due by this much; the merchant lets it go. */
  readonly waived: bigint;
  /** More than was due by this much; it is the payer's. */
  readonly tooMuch: bigint;
  /** The part of that which still lies here. */
  readonly toReturn: bigint;
  /** So little came that the merchant was asked whether it is enough. */
  readonly wasAccepted: boolean;
}

export async function receivedFor(db: Executor, clearing: ClearingRow): Promise<Received> {
  return comparedWith(clearing, await loadPurse(db, clearing));
}

/** Without an order exactly what counted came: by a signed authorization, or at a provider. Money of another token than
 *  the order's is not compared with it. */
function comparedWith(clearing: ClearingRow, { orders, deposits, returns }: Purse): Received {
  const { chain, asset, settlementAmount, toleranceBps } = clearing;
  const order = liveOrder(orders, clearing);
  const due = order?.chain === chain && order.asset === asset ? order.amount : settlementAmount;
  const own = deposits.filter((row) => row.chain === chain && row.asset === asset);
  const tooMuch = sum(own.map(({ toOverpayment }) => ({ amount: toOverpayment })));
  return {
    came: settlementAmount + tooMuch,
    waived: due > settlementAmount ? due - settlementAmount : 0n,
    tooMuch,
    toReturn: sum(own.map((row) => ({ amount: lyingOf(row, returns).overpayment }))),
    wasAccepted: settlementAmount < leastOf({ sourceAmount: due, toleranceBps }),
  };
}

/** Confirmations that each deposit of a settled payment had at least when it was counted; null where nobody watches its
 *  chain here. */
export function confirmationsFor(
  { facilitator }: { readonly facilitator: Pick<Facilitator, "chains"> },
  { chain, settlementAmount }: ClearingRow,
): number | null {
  const served = facilitator.chains().find((each) => each.chain === chain);
  return served ? requiredFor(settlementAmount, served.depth).confirmations : null;
}

import { getTableColumns, sql } from "drizzle-orm";
import { ledgerAsset } from "#kernel/asset";
import { assert } from "#kernel/fault";
import { type Deposit, post, resolvePending, templates } from "#ledger";
import { insertMany, outbox, type Tx } from "#store";
import { isOrdered, type Seen, unbooked } from "./deposits.ts";
import type { ClearingDesk } from "./desk.ts";
import { type ClearingRow, type DepositRow, feeOf, leastOf, lyingOf, type ReturnRow } from "./money.ts";
import type { OrderRow } from "./orders.ts";
import { partsOf } from "./rails/order.ts";
import { clearingDeposit } from "./tables.ts";
import { factOf } from "./timeline.ts";

/** The event of a deposit in the books; the numbers are those it was booked with. */
function eventOf(row: DepositRow, path: OrderRow["path"]): Deposit {
  const { chain, txHash, logIndex, blockHash, blockNumber, booking, clearingId } = row;
  const { toClearing, toOverpayment, toUnmatched } = row;
  return {
    ...{ chain, txHash, logIndex, blockHash, blockNumber, booking, clearingId, path },
    asset: ledgerAsset(row.asset, chain),
    ...{ toClearing, toOverpayment, toUnmatched },
  };
}

const pathOf = (orders: readonly OrderRow[], { orderId }: DepositRow): OrderRow["path"] => {
  const order = orders.find(({ id }) => id === orderId);
  assert(order, "a deposit reached an order of its clearing");
  return order.path;
};

/** Takes deposits out of the books whose block left the chain; gives the rows as they are then. What was settled of them
 *  has been voided before. */
export async function unbook(
  tx: Tx,
  orders: readonly OrderRow[],
  fallen: readonly DepositRow[],
): Promise<readonly DepositRow[]> {
  await post(
    tx,
    fallen.map((row) => templates.depositReversed(eventOf(row, pathOf(orders, row)))),
  );
  return fallen.map((row) => ({ ...row, ...unbooked, isMatched: false, isDecided: false }));
}

interface Booking {
  readonly clearing: ClearingRow;
  readonly orders: readonly OrderRow[];
  readonly order: OrderRow | null;
  readonly returns: readonly ReturnRow[];
}

/** Takes into the books what has its confirmations: one log pays one thing. Tells when more came than was due. */
export async function book(
  tx: Tx,
  { facilitator, newId }: Pick<ClearingDesk, "facilitator" | "newId">,
  booking: Booking,
  seen: readonly Seen[],
): Promise<readonly Seen[]> {
  const after: Seen[] = [];
  const { order, returns } = booking;
  const rows = seen.map(({ row }) => row);
  // What was parted a moment ago counts as much as what lay there already; of others than the order's none goes there.
  let held = order ? heldOf(order, rows, returns) : 0n;
  for (const each of seen) {
    if (!isDue(each)) {
      after.push(each);
      continue;
    }
    const row = partedRow(booking, each.row, held);
    held += lyingOf(row, returns).clearing;
    after.push({ ...each, row });
  }
  const booked = after.filter(({ row }, i) => row.isBooked && !seen[i]?.row.isBooked).map(({ row }) => row);
  if (booked.length === 0) return after;
  await facilitator.deposits.take(tx, booked);
  await post(
    tx,
    booked.map((row) => templates.depositReceived(eventOf(row, pathOf(booking.orders, row)))),
  );
  if (booked.some(({ toOverpayment }) => toOverpayment > 0n))
    await outbox.append(tx, [factOf(newId, booking.clearing, { type: "payment.overpaid", previous: null })]);
  return after;
}

const isDue = ({ isDeep, row }: Seen) => isDeep && !row.isBooked;

function partedRow({ clearing, order }: Booking, row: DepositRow, held: bigint): DepositRow {
  const parts = partsOf({
    amount: row.amount,
    isOrdered: isOrdered(row, order),
    at: row.firstSeenAt,
    state: clearing.state,
    expiresAt: clearing.expiresAt,
    due: order?.amount ?? 0n,
    least: leastOf(clearing),
    held,
  });
  return { ...row, ...parts, isBooked: true };
}

/** What lies in the clearing, in its own token. */
export function heldOf(
  { chain, asset }: Pick<ClearingRow, "chain" | "asset">,
  rows: readonly DepositRow[],
  returns: readonly ReturnRow[],
): bigint {
  return rows
    .filter((row) => row.chain === chain && row.asset === asset)
    .reduce((total, row) => total + lyingOf(row, returns).clearing, 0n);
}

/** Writes what has changed, at once: with a block all deposits that are not final change. */
export async function saveDeposits(
  tx: Tx,
  before: readonly DepositRow[],
  after: readonly DepositRow[],
  now: Date,
): Promise<void> {
  const known = new Map(before.map((row) => [row.id, row]));
  const changed = after.flatMap((row) => {
    const old = known.get(row.id);
    if (!old) return [row];
    return isSame(old, row) ? [] : [{ ...row, updatedAt: now }];
  });
  if (changed.length === 0) return;
  await tx.execute(sql`${insertMany(clearingDeposit, changed)}
    ON CONFLICT (merchant_id, clearing_id, id) DO UPDATE SET ${asWritten}`);
}

const KEYS: readonly string[] = ["merchantId", "clearingId", "id"];
const asWritten = sql.raw(
  Object.entries(getTableColumns(clearingDeposit))
    .filter(([key]) => !KEYS.includes(key))
    .map(([, { name }]) => `"${name}" = excluded."${name}"`)
    .join(", "),
);

function isSame(a: DepositRow, b: DepositRow): boolean {
  return (Object.keys(a) as (keyof DepositRow)[]).every((key) => {
    const [one, other] = [a[key], b[key]];
    return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;
  });
}

/** What a clearing settles with now. */
export interface Settlement {
  readonly gross: bigint;
  readonly fee: bigint;
}

/** The payer's money becomes the merchant's, less our fee; pending until its last block is final. */
export async function postSettlement(
  tx: Tx,
  clearing: ClearingRow,
  {
    attempt,
    counted,
    gross,
  }: { readonly attempt: number; readonly counted: readonly DepositRow[]; readonly gross: bigint },
): Promise<Settlement> {
  const fee = feeOf(gross, clearing.feeBps);
  await post(tx, [
    templates.clearingSettled({
      clearingId: clearing.id,
      attempt,
      merchantId: clearing.merchantId,
      asset: ledgerAsset(clearing.asset, clearing.chain),
      gross,
      fee,
      blockNumber: Math.max(...counted.map(({ blockNumber }) => blockNumber)),
    }),
  ]);
  return { gross, fee };
}

/** Its block is final, or left the chain. */
export function resolveSettlement(tx: Tx, how: "post" | "void", clearing: ClearingRow): Promise<void> {
  const { id: clearingId, attempt } = clearing;
  return resolvePending(tx, how, [templates.settleEventKey({ clearingId, attempt })]);
}

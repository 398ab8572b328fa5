import { ledgerAsset } from "#kernel/asset";
import { post, templates } from "#ledger";
import type { Tx } from "#store";
import { fault } from "../http/faults.ts";
import { isStray, type Seen } from "./deposits.ts";
import { type DepositRow, feeOf, lyingOf } from "./money.ts";
import { liveOrder, markOrder, type OrderRow } from "./orders.ts";
import { impliedRate, lockedRate } from "./rates.ts";
import type { Change, Held } from "./timeline.ts";
import type { Work } from "./turn.ts";

interface Accepted {
  readonly seen: readonly Seen[];
  readonly orders: readonly OrderRow[];
  readonly change: Change;
}

/** Makes money that came astray the payment: the largest of it, in its own token. It moves out of suspense into the
 *  clearing, so its block must be final. Faults: `funds_not_received`, `funds_not_final`. */
export async function acceptStrays(tx: Tx, { held, seen, orders, returns }: Work): Promise<Accepted> {
  const groups = groupsOf(seen.filter(({ row }) => isStray(row, returns)).map(({ row }) => row));
  const rows = groups.sort((a, b) => (totalOf(a) < totalOf(b) ? 1 : -1))[0];
  const [first] = rows ?? [];
  if (!rows || !first) throw fault("funds_not_received");
  if (!rows.every(({ isFinal }) => isFinal)) throw fault("funds_not_final");
  await post(
    tx,
    rows.map((row) =>
      templates.unmatchedMatched({
        ...row,
        asset: ledgerAsset(row.asset, row.chain),
        clearingId: held.clearing.id,
        amount: lyingOf(row, returns).unmatched,
      }),
    ),
  );
  const matched = new Set(rows.map(({ id }) => id));
  const order = orders.find(({ id }) => id === first.orderId) ?? null;
  return {
    seen: seen.map((each) =>
      matched.has(each.row.id) ? { ...each, row: { ...each.row, isMatched: true } } : each,
    ),
    orders: order ? await turnTo(tx, held, orders, order) : orders,
    change: await changeOf(tx, held, order, { ...first, amount: totalOf(rows) }),
  };
}

/** By order and token. */
function groupsOf(rows: readonly DepositRow[]): DepositRow[][] {
  const groups = new Map<string, DepositRow[]>();
  for (const row of rows) {
    const key = `${row.orderId} ${row.asset}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function totalOf(rows: readonly DepositRow[]): bigint {
  return rows.reduce((total, { amount }) => total + amount, 0n);
}

/** The order that was paid is the one that counts again. */
async function turnTo(tx: Tx, { clearing }: Held, orders: readonly OrderRow[], order: OrderRow) {
  const live = liveOrder(orders, clearing);
  if (live?.id === order.id) return orders;
  const replaced = live && (await markOrder(tx, live, "superseded"));
  const active = await markOrder(tx, order, "active");
  return orders.map((each) => (each.id === active.id ? active : each.id === replaced?.id ? replaced : each));
}

async function changeOf(
  tx: Tx,
  { clearing, intent }: Held,
  order: OrderRow | null,
  paid: DepositRow,
): Promise<Change> {
  const { chain, asset, amount } = paid;
  return {
    clearing: {
      ...{
        chain,
        asset,
        sourceAmount: amount,
        settlementAmount: amount,
        fee: feeOf(amount, clearing.feeBps),
      },
      ...(order && { executionPath: order.path, providerReference: order.id, orderSeq: order.seq }),
      ...(order?.asset === asset
        ? await lockedRate(tx, order.merchantId, order.rateId)
        : impliedRate(intent, paid, paid.firstSeenAt)),
    },
    intent: { settlementAsset: asset, paymentAsset: asset, paymentChain: chain },
  };
}

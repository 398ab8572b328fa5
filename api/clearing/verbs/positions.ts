import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { type Executor, toArray } from "#store";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { presentIntent } from "../../payment-intent/verbs/read.ts";
import type { ClearingRow } from "../money.ts";
import { presentClearing } from "../present.ts";
import type { PaymentPosition } from "../schema.ts";
import { clearing, clearingDeposit, clearingOrder } from "../tables.ts";
import { type Coming, depositFrom, type Payment, type PaymentDesk } from "./payment.ts";

/** A payment without its timeline. */
export type PaymentObject = Omit<PaymentPosition, "timeline">;
interface Named {
  readonly merchantId: string;
  /** Of the intent. */
  readonly id: string;
}

/** Many payments as they stand, by the ids of their intents: as many statements for hundreds as for one. What is not
 *  there is left out. */
export async function positionsOf(
  desk: PaymentDesk,
  db: Executor,
  named: readonly Named[],
): Promise<ReadonlyMap<string, PaymentObject>> {
  const payments = await loadPayments(db, named);
  const rows = payments.flatMap(({ clearing: row }) => row ?? []);
  const purses = await loadPurses(db, rows);
  const agents = await agentsOf(desk, payments);
  return new Map(
    payments.map(({ intent, clearing: row }) => [
      intent.id,
      presentPayment(
        desk,
        { intent, clearing: row },
        {
          orders: purses.orders.get(row?.id ?? "") ?? [],
          deposits: purses.deposits.get(row?.id ?? "") ?? [],
          payments: agents.get(intent.id) ?? [],
        },
      ),
    ]),
  );
}

/** A payment that is at hand, with the money that came for it. Pure. */
export function presentPayment(
  desk: PaymentDesk,
  { intent, clearing: row }: Payment,
  coming: Coming,
): PaymentObject {
  return {
    paymentIntent: presentIntent(intent, desk),
    clearing: row && presentClearing(row),
    deposit: row && depositFrom(desk, row, coming),
  };
}

function among(columns: SQL, named: readonly Named[]): SQL {
  const merchants = toArray(
    named.map(({ merchantId }) => merchantId),
    "text",
  );
  const ids = toArray(
    named.map(({ id }) => id),
    "text",
  );
  return sql`(${columns}) IN (SELECT * FROM unnest(${merchants}, ${ids}))`;
}

function loadPayments(db: Executor, named: readonly Named[]): Promise<Payment[]> {
  return db
    .select({ intent: paymentIntent, clearing })
    .from(paymentIntent)
    .leftJoin(
      clearing,
      and(eq(clearing.merchantId, paymentIntent.merchantId), eq(clearing.id, paymentIntent.clearingId)),
    )
    .where(among(sql`${paymentIntent.merchantId}, ${paymentIntent.id}`, named));
}

/** Orders and deposits of the clearings that are paid by an order. */
async function loadPurses(db: Executor, rows: readonly ClearingRow[]) {
  const byOrder = rows.filter(({ provider, orderSeq }) => provider === "evm" && orderSeq !== null);
  if (byOrder.length === 0) return { orders: new Map(), deposits: new Map() };
  const orders = await db
    .select()
    .from(clearingOrder)
    .where(among(sql`${clearingOrder.merchantId}, ${clearingOrder.clearingId}`, byOrder))
    .orderBy(asc(clearingOrder.seq));
  const deposits = await db
    .select()
    .from(clearingDeposit)
    .where(among(sql`${clearingDeposit.merchantId}, ${clearingDeposit.clearingId}`, byOrder))
    .orderBy(asc(clearingDeposit.id));
  const byClearing = ({ clearingId }: { readonly clearingId: string }) => clearingId;
  return { orders: grouped(orders, byClearing), deposits: grouped(deposits, byClearing) };
}

/** Agents' payments by the intent that they pay: of an intent that they were offered, or the one that made it. */
async function agentsOf(
  { facilitator }: PaymentDesk,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, readonly PaymentView[]>> {
  const byAgent = payments.filter(({ clearing: row }) => row?.executionPath === "x402");
  const offered = byAgent.filter(({ intent }) => intent.offerAmount !== null).map(({ intent }) => intent.id);
  const others = byAgent.filter(({ intent }) => intent.offerAmount === null);
  const intentOf = new Map(others.map(({ intent, clearing: row }) => [row?.providerReference, intent.id]));
  const ids = [...intentOf.keys()].filter((id) => typeof id === "string");
  const found = [
    ...(offered.length > 0 ? await facilitator.payments({ payableIds: offered }) : []),
    ...(ids.length > 0 ? await facilitator.payments({ ids }) : []),
  ];
  return grouped(found, ({ id, payableId }) => intentOf.get(id) ?? payableId);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

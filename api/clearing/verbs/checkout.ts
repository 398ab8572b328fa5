/** What payers do and see at the page of an intent: keyless, for whoever holds its id. */
import { and, eq, max } from "drizzle-orm";
import { type Executor, isAnyOf } from "#store";
import { fault } from "../../http/faults.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { openIntent } from "../../payment-intent/verbs/read.ts";
import type { ClearingDesk } from "../desk.ts";
import { paymentsOf } from "../lead.ts";
import type { ConfirmInput, PaymentPosition } from "../schema.ts";
import { clearing, clearingDeposit } from "../tables.ts";
import { choose } from "../take.ts";
import { confirmPayment, switchRail } from "./confirm.ts";
import { findPayment, type Payment, positionOf } from "./payment.ts";
import { type Returned, returnedOf } from "./returned.ts";

export type { ClearingDesk } from "../desk.ts";

/** A payment as its page needs it. */
export interface OpenPayment extends Payment {
  readonly position: PaymentPosition;
  /** Confirmations now of the money that lacks most; null where none is waited for. */
  readonly confirmations: number | null;
  readonly returned: readonly Returned[];
}

/** The payment that an intent's id opens. Fault: `not_found`. */
export async function openPayment(desk: ClearingDesk, id: string): Promise<OpenPayment> {
  const { pool } = desk.db;
  const { merchantId } = await openIntent(pool, id);
  const payment = await findPayment(pool, merchantId, id);
  const payments = await paymentsOf(desk, payment.intent, payment.clearing);
  const position = await positionOf(desk, pool, { ...payment, payments });
  const returned = payment.clearing ? await returnedOf(desk, pool, payment.clearing) : [];
  return { ...payment, position, confirmations: await confirmationsOf(desk, payment), returned };
}

/** Rows are brought up when it matters to the books; a person looks at every block. */
async function confirmationsOf(desk: ClearingDesk, { clearing: row }: Payment): Promise<number | null> {
  if (row?.state !== "funds-detected" || row.executionPath === "x402") return null;
  // Of a chain that is not served any more nobody knows them.
  if (!desk.facilitator.chains().some(({ chain }) => chain === row.chain)) return null;
  const arrivals = await desk.facilitator.deposits.arrivals(desk.db.pool, [row.id]);
  const here = arrivals.filter(({ isCanonical }) => isCanonical).map(({ confirmations }) => confirmations);
  return here.length === 0 ? null : Math.min(...here);
}

/** Each order has an address of its own that is watched for months. */
const MOST_ORDERS = 10;

/** Sends a payer the way it chose: hands the intent to clearing, or switches the rail while no money has come. What
 *  stands so already is left as it is. Faults: `not_found`, `intent_not_confirmable`, `intent_expired`,
 *  `rail_unsupported`, `rail_switched_too_often`, `amount_too_small`, `amount_too_large`, `rate_unavailable`. Source:
 *  merchant-api.md §1.2, §7. */
export async function chooseWay(
  desk: ClearingDesk,
  { id, ...input }: ConfirmInput & { readonly id: string },
): Promise<void> {
  const { pool } = desk.db;
  const { merchantId } = await openIntent(pool, id);
  const payment = await findPayment(pool, merchantId, id);
  const { intent, clearing: row } = payment;
  // What an outside provider was asked for stays so.
  if (row && (row.state !== "awaiting-funds" || row.provider !== "evm")) return;
  if (row && isThere(payment, input)) return;
  if ((row?.orderSeq ?? 0) >= MOST_ORDERS) throw fault("rail_switched_too_often");
  const isOpen = row !== null || (intent.status === "created" && desk.now() < intent.expiresAt);
  const chosen = isOpen ? await choose(desk, intent, input) : null;
  const isSwitch = row !== null && row.chosenPath !== null;
  await desk.db.tx((tx) =>
    isSwitch && chosen
      ? switchRail(tx, desk, { merchantId, id, chosen })
      : confirmPayment(tx, desk, { merchantId, id, chosen }),
  );
}

/** The same button pressed twice makes one order. */
function isThere({ clearing: row }: Payment, { payment, executionPath }: ConfirmInput): boolean {
  return row?.chosenPath === executionPath && row?.chain === payment?.chain && row?.asset === payment?.asset;
}

/** What changes whenever there is news of a payment, by the id of its intent. One query for all of them. */
export async function marksOf(
  db: Executor,
  named: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, string>> {
  if (named.length === 0) return new Map();
  const ids = named.map(({ id }) => id as `pi_${string}`);
  const merchants = [...new Set(named.map(({ merchantId }) => merchantId))];
  const rows = await db
    .select({
      id: paymentIntent.id,
      status: paymentIntent.status,
      state: clearing.state,
      sequence: clearing.sequence,
      updatedAt: clearing.updatedAt,
      seenAt: max(clearingDeposit.updatedAt),
    })
    .from(paymentIntent)
    .leftJoin(
      clearing,
      and(eq(clearing.merchantId, paymentIntent.merchantId), eq(clearing.id, paymentIntent.clearingId)),
    )
    .leftJoin(
      clearingDeposit,
      and(eq(clearingDeposit.merchantId, clearing.merchantId), eq(clearingDeposit.clearingId, clearing.id)),
    )
    .where(and(isAnyOf(paymentIntent.merchantId, merchants), isAnyOf(paymentIntent.id, ids)))
    .groupBy(paymentIntent.merchantId, paymentIntent.id, clearing.merchantId, clearing.id);
  return new Map(rows.map(({ id, ...mark }) => [id, JSON.stringify(mark)]));
}

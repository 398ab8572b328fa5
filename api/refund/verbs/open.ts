/** The refunds of a payment, as whoever holds the address of its page sees them. */
import { and, asc, eq } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import type { Address } from "#kernel/bytes";
import type { NewId } from "#kernel/id";
import type { Database, Executor } from "#store";
import { findPayment, type Payment } from "../../clearing/verbs/payment.ts";
import { openIntent } from "../../payment-intent/verbs/read.ts";
import { presentRefund, type RefundRow } from "../present.ts";
import type { Refund } from "../schema.ts";
import type { Nonces } from "../siwe.ts";
import { refund } from "../tables.ts";
import { sendersOf } from "./payer.ts";
import type { RefundDesk } from "./reserve.ts";

export interface ClaimDesk {
  readonly db: Database;
  readonly facilitator: RefundDesk["facilitator"] & Pick<Facilitator, "isSignedBy">;
  readonly baseUrl: string;
  readonly nonces: Nonces;
  readonly newId: NewId;
  readonly now: () => Date;
  /** Of the machine: a wallet judges by its own clock whether a message is still good. */
  readonly machineNow: () => Date;
}

/** The refunds of a payment as its payer sees them, newest first. */
export interface OpenRefunds {
  readonly merchantId: string;
  /** As the payment was made to. */
  readonly seller: { readonly name: string; readonly city: string; readonly countryCode: string };
  readonly refunds: readonly Refund[];
  readonly chain: string | null;
  /** What waits for an address; null when nothing does. */
  readonly waiting: Waiting | null;
}
export interface Waiting {
  /** Of all that wait, in atomic units of the asset. */
  readonly amount: bigint;
  readonly asset: string;
  /** Who paid, and so may say where it goes; null where several did: then the merchant says. */
  readonly payer: Address | null;
}

/** Fault: `not_found`. */
export async function openRefunds(desk: ClaimDesk, id: string): Promise<OpenRefunds> {
  const { pool } = desk.db;
  const payment = await paymentOf(desk, id);
  const rows = await refundsOf(pool, payment);
  const {
    merchantId,
    merchantName: name,
    merchantCity: city,
    merchantCountryCode: countryCode,
  } = payment.intent;
  return {
    merchantId,
    seller: { name, city, countryCode },
    refunds: rows.map(presentRefund).reverse(),
    chain: payment.clearing?.chain ?? null,
    waiting: await waitingOf(desk, payment, rows),
  };
}

/** The refunds of a payment that was read already, newest first. */
export async function refundsOfPayment(db: Executor, payment: Payment): Promise<readonly Refund[]> {
  return (await refundsOf(db, payment)).map(presentRefund).reverse();
}

/** Fault: `not_found`. */
export async function paymentOf({ db }: ClaimDesk, id: string): Promise<Payment> {
  const { merchantId } = await openIntent(db.pool, id);
  return findPayment(db.pool, merchantId, id);
}

/** Oldest first. */
export async function refundsOf(db: Executor, { clearing }: Payment): Promise<RefundRow[]> {
  if (!clearing) return [];
  const isOfIt = and(eq(refund.merchantId, clearing.merchantId), eq(refund.clearingId, clearing.id));
  return db.select().from(refund).where(isOfIt).orderBy(asc(refund.id));
}

/** What of a payment waits for an address. */
export async function waitingOf(
  desk: ClaimDesk,
  { clearing }: Payment,
  rows: readonly RefundRow[],
): Promise<Waiting | null> {
  const waiting = rows.filter(({ state }) => state === "requires-destination");
  if (!clearing || waiting.length === 0) return null;
  const [payer, another] = new Set(await sendersOf(desk, desk.db.pool, clearing));
  const isOne = payer !== undefined && another === undefined;
  return { amount: sumOf(waiting), asset: clearing.asset, payer: isOne ? payer : null };
}

export const sumOf = (rows: readonly RefundRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n);

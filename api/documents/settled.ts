import { and, eq } from "drizzle-orm";
import type { Facilitator, PaymentView } from "#facilitator";
import { checksum, type Hash } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { merchantEntries } from "#ledger";
import type { Executor } from "#store";
import { clearingOrder } from "../clearing/tables.ts";
import {
  type ClearingRow,
  type DepositRow,
  findPayment,
  paidBy,
  paymentsOf,
} from "../clearing/verbs/payment.ts";
import { confirmationsFor, type Received, receivedFor } from "../clearing/verbs/received.ts";
import { findCurrency } from "../http/currency.ts";
import { fault } from "../http/faults.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import { linesOf, type SoldLine } from "./lines.ts";
import { type RefundRow, refundsOf } from "./refunded.ts";
import type { SettlementProof } from "./schema.ts";

export interface DocumentDesk {
  readonly facilitator: Pick<Facilitator, "chains" | "payments" | "offer">;
  readonly baseUrl: string;
}

/** A payment that was settled, with all that a receipt says of it. */
export interface Settled {
  readonly intent: IntentRow;
  readonly clearing: ClearingRow;
  readonly completedAt: Date;
  readonly lines: readonly SoldLine[];
  readonly received: Received;
  readonly transfers: readonly Proven[];
  /** Each transfer had at least so many when it was counted; null where the chain is not watched any more, or where a
   *  provider watches it. */
  readonly confirmations: number | null;
  readonly refunds: readonly RefundRow[];
  /** The entry of the books that credited the merchant; null where an outside provider holds the money. */
  readonly ledgerEntryId: string | null;
  /** Of its chain; null where nobody keeps one. */
  readonly explorer: string | null;
}
/** A transfer of the chain that was counted. */
interface Proven {
  readonly transaction: Hash;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** Reads a settled payment by pi_ or clr_. Faults: `not_found`, `receipt_not_available`. */
export async function readSettled(
  desk: DocumentDesk,
  db: Executor,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<Settled> {
  const { intent, clearing } = await findPayment(db, merchantId, id);
  const { completedAt } = intent;
  if (intent.status !== "completed" || !clearing || !completedAt)
    throw fault("receipt_not_available", { status: intent.status });
  return {
    intent,
    clearing,
    completedAt,
    lines: await linesOf(db, intent),
    received: await receivedFor(db, clearing),
    ...(await seenOf(desk, db, intent, clearing)),
    refunds: await refundsOf(db, clearing),
    ledgerEntryId: await creditOf(db, clearing),
    explorer: desk.facilitator.chains().find(({ chain }) => chain === clearing.chain)?.explorer ?? null,
  };
}

type Seen = Pick<Settled, "transfers" | "confirmations">;

async function seenOf(
  desk: DocumentDesk,
  db: Executor,
  intent: IntentRow,
  clearing: ClearingRow,
): Promise<Seen> {
  if (clearing.executionPath !== "x402")
    return { transfers: await depositsOf(db, clearing), confirmations: confirmationsFor(desk, clearing) };
  const payments = await paymentsOf(desk, intent, clearing);
  const [payment] = payments.filter(({ id }) => id === clearing.providerReference);
  return { transfers: payment ? agentTransfer(payment) : [], confirmations: payment?.required ?? null };
}

function agentTransfer(payment: PaymentView): readonly Proven[] {
  const { transaction, logIndex, blockNumber, blockHash, payer, payTo, amount } = payment;
  if (transaction === null || logIndex === null || blockNumber === null || blockHash === null) return [];
  const parties = { from: checksum(payer), to: checksum(payTo) };
  return [{ transaction, logIndex, blockNumber, blockHash, ...parties, amount }];
}

async function depositsOf(db: Executor, clearing: ClearingRow): Promise<readonly Proven[]> {
  const orders = await db
    .select({ id: clearingOrder.id, payTo: clearingOrder.payTo })
    .from(clearingOrder)
    .where(and(eq(clearingOrder.merchantId, clearing.merchantId), eq(clearingOrder.clearingId, clearing.id)));
  const deposits = await paidBy(db, clearing);
  return deposits.flatMap((row) => {
    const order = orders.find(({ id }) => id === row.orderId);
    return order ? [depositTransfer(row, checksum(order.payTo))] : [];
  });
}

function depositTransfer(row: DepositRow, to: string): Proven {
  const { txHash, logIndex, blockNumber, blockHash, sender, amount } = row;
  return { transaction: txHash, logIndex, blockNumber, blockHash, from: checksum(sender), to, amount };
}

/** Codes of the entries that credit a merchant. */
const CREDITS = new Set(["clearing-settled", "x402-credited"]);
const ENTRIES = 50;

/** The newest: after a reorganisation the payment was credited anew. */
async function creditOf(db: Executor, clearing: ClearingRow): Promise<string | null> {
  const subject = clearing.executionPath === "x402" ? clearing.providerReference : clearing.id;
  if (subject === null) return null;
  const entries = await merchantEntries(db, clearing.merchantId, { subject, limit: ENTRIES, after: null });
  const credit = entries.find(
    ({ code, transfers }) => CREDITS.has(code) && transfers.some(({ phase }) => phase === "pending"),
  );
  return credit?.id ?? null;
}

/** What is signed of it. */
export function proofOf({ facilitator }: DocumentDesk, settled: Settled): SettlementProof {
  const { intent, clearing, transfers, completedAt, ledgerEntryId } = settled;
  const served = facilitator.chains().find(({ chain }) => chain === clearing.chain);
  const token = served?.tokens.find(({ asset }) => asset === clearing.asset);
  const coins = (amount: bigint) => exact(amount, clearing.asset);
  return {
    version: 1,
    paymentIntentId: intent.id,
    clearingTransactionId: clearing.id,
    merchant: { id: intent.merchantId, name: intent.merchantName },
    merchantReference: intent.merchantReference,
    amount: exact(intent.amount, intent.currency),
    settlementAmount: coins(clearing.settlementAmount),
    fee: coins(clearing.fee),
    netAmount: coins(clearing.settlementAmount - clearing.fee),
    chain: clearing.chain,
    network: token && served ? served.network : null,
    token: token?.contract ?? null,
    transfers: transfers.map(({ transaction, amount, ...where }) => ({
      transactionHash: transaction,
      ...where,
      amount: amount.toString(),
    })),
    ledgerEntryId,
    completedAt: completedAt.toISOString(),
  };
}

function exact(amount: bigint, asset: string) {
  return { amount: formatDecimal(amount, findCurrency(asset)?.decimals ?? 0), asset };
}

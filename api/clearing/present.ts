import type { PaymentView, RailFacts } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { presentAmount } from "../http/money.ts";
import { type ClearingRow, type DepositRow, requiredFor, sum } from "./money.ts";
import type { OrderRow } from "./orders.ts";
import { orderRail } from "./rails/index.ts";
import type { Clearing, Deposit, DepositEntry, TimelineEntry } from "./schema.ts";
import type { timelineEntry } from "./tables.ts";

/** As its merchant sees it. Source: interface §2.3, merchant-api.md §3.9. */
export function presentClearing(row: ClearingRow): Clearing {
  const money = (amount: bigint) => presentAmount({ amount, asset: row.asset });
  const { failureCode, failureReason, failureAt } = row;
  return {
    id: row.id,
    paymentIntentId: row.intentId,
    state: row.state,
    provider: row.provider,
    providerReference: row.providerReference,
    transactionHash: row.transactionHash,
    sourceAmount: money(row.sourceAmount),
    settlementAmount: money(row.settlementAmount),
    fee: money(row.fee),
    netAmount: money(row.settlementAmount - row.fee),
    rate: {
      from: row.rateFrom,
      to: row.rateTo,
      scaledRate: row.scaledRate.toString(),
      source: row.rateSource,
      lockedAt: row.rateLockedAt.toISOString(),
    },
    failure:
      failureCode && failureReason && failureAt
        ? { reason: failureReason, code: failureCode, at: failureAt.toISOString() }
        : null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

const counted = new Set<DepositRow["status"]>(["confirming", "confirmed", "credited", "late"]);

interface Shown {
  readonly deposits: readonly DepositRow[];
  /** Null while it is not taken: then nobody is asked to pay on it. */
  readonly rail: RailFacts | null;
  /** Of its chain; null where that is not served any more. */
  readonly depth: RailFacts["depth"] | null;
}

/** The order and what came for it, other orders of the clearing and other tokens included in the list. Source: interface
 *  §2.4. */
export function presentDeposit(row: ClearingRow, order: OrderRow, { deposits, rail, depth }: Shown): Deposit {
  const { chain, asset, amount } = order;
  const received = sum(
    deposits.filter((each) => each.orderId === order.id && each.asset === asset && counted.has(each.status)),
  );
  const missing = amount > received ? amount - received : 0n;
  const isPayable = row.state === "awaiting-funds" || row.state === "funds-detected";
  const uri =
    rail && isPayable && missing > 0n ? (orderRail(order.path)?.uri(order, missing, rail) ?? null) : null;
  return {
    address: checksum(order.address),
    chain,
    asset,
    amount: presentAmount({ amount, asset }),
    uri,
    received: presentAmount({ amount: received, asset }),
    required: depth ? requiredFor(amount, depth).confirmations : 0,
    reviewRequired: row.reviewRequired,
    deposits: deposits.map(presentEntry),
  };
}

function presentEntry(row: DepositRow): DepositEntry {
  return {
    txHash: row.txHash,
    logIndex: row.logIndex,
    amount: presentAmount({ amount: row.amount, asset: row.asset }),
    status: row.status,
    confirmations: row.status === "orphaned" ? 0 : row.confirmations,
    firstSeenAt: row.firstSeenAt.toISOString(),
  };
}

const statusOfPayment = {
  claimed: "seen",
  submitting: "seen",
  "failed-watch": "seen",
  review: "seen",
  expired: "seen",
  cancelled: "seen",
  included: "credited",
  final: "credited",
} as const satisfies Record<PaymentView["state"], DepositEntry["status"]>;

/** An agent's payment as a deposit of one entry; null until it was broadcast. */
export function presentAgentDeposit(row: ClearingRow, payment: PaymentView): Deposit | null {
  const { chain, asset, amount, transaction } = payment;
  if (transaction === null) return null;
  const status = statusOfPayment[payment.state];
  const money = presentAmount({ amount, asset });
  return {
    address: checksum(payment.payTo),
    chain,
    asset,
    amount: money,
    uri: null,
    received: status === "credited" ? money : presentAmount({ amount: 0n, asset }),
    required: payment.required,
    reviewRequired: row.reviewRequired,
    deposits: [
      {
        txHash: transaction,
        logIndex: payment.logIndex ?? 0,
        amount: money,
        status,
        confirmations: payment.confirmations,
        firstSeenAt: payment.createdAt.toISOString(),
      },
    ],
  };
}

export function presentEntryOfTimeline(row: typeof timelineEntry.$inferSelect): TimelineEntry {
  const { sequence, state, from, occurredAt } = row;
  return { sequence, state, from, occurredAt: occurredAt.toISOString() };
}

import type { RailFacts } from "#facilitator";
import { atParity } from "#kernel/asset";
import { unreachable } from "#kernel/fault";
import type { OpenPayment } from "../clearing/verbs/checkout.ts";
import { type Money, parseAmount, presentAmount } from "../http/money.ts";
import type { Refund } from "../refund/schema.ts";
import type { CheckoutStatus, Phase, Returned } from "./schema.ts";

/** What the payer of a payment is told, now. */
export function presentStatus(payment: OpenPayment, now: Date): CheckoutStatus {
  const { paymentIntent: intent, clearing, deposit } = payment.position;
  const { name, city, countryCode } = intent.merchant;
  const money = moneyOf(payment);
  const entries = deposit?.deposits ?? [];
  const least = entries.filter(({ status }) => status !== "orphaned").map((entry) => entry.confirmations);
  return {
    id: intent.id,
    status: intent.status,
    phase: phaseOf(payment, now),
    clearing: clearing && { state: clearing.state },
    merchant: { name, city, countryCode },
    amount: intent.amount,
    executionPath: intent.executionPath,
    chain: clearing && intent.payment.chain,
    address: deposit?.address ?? null,
    uri: deposit?.uri ?? null,
    ...money,
    confirmations: payment.confirmations ?? (least.length > 0 ? Math.min(...least) : null),
    required: deposit?.required ?? null,
    transactionHash: clearing?.transactionHash ?? entries.at(-1)?.txHash ?? null,
    returned: payment.returned.flatMap(presentReturned),
    expiresAt: intent.expiresAt,
    now: now.toISOString(),
  };
}

function presentReturned({
  amount,
  asset,
  chain,
  transactionHash,
  explorerUrl,
  state,
}: OpenPayment["returned"][number]): readonly Returned[] {
  return state === "failed" ? [] : [{ amount, asset, chain, transactionHash, explorerUrl, state }];
}

function moneyOf({ position }: OpenPayment): Pick<CheckoutStatus, "due" | "received" | "remaining"> {
  const { clearing, deposit } = position;
  if (!clearing) return { due: null, received: null, remaining: null };
  const due = deposit?.amount ?? clearing.sourceAmount;
  const { asset } = due;
  const [whole, part] = [amountOf(due), deposit ? amountOf(deposit.received) : 0n];
  const missing = whole > part ? whole - part : 0n;
  return {
    due,
    received: presentAmount({ amount: part, asset }),
    remaining: presentAmount({ amount: missing, asset }),
  };
}

/** What came beyond what was due; null where nothing did. Pure. */
export function excessOf({ due, received }: CheckoutStatus): Money | null {
  if (!due || !received) return null;
  const amount = amountOf(received) - amountOf(due);
  return amount > 0n ? presentAmount({ amount, asset: due.asset }) : null;
}

/** What a paid payment was paid with: one that its merchant accepted as it was, with what came. Pure. */
export function paidWith({ due, received }: CheckoutStatus): Money | null {
  // A signature pays what was due, and leaves no deposit.
  return received && amountOf(received) > 0n ? received : due;
}

/** What of a payment was paid back, and whether that is all the merchant had of it; null where nothing was. Pure. */
export function refundedOf(
  status: CheckoutStatus,
  refunds: readonly Pick<Refund, "state" | "amount">[],
): { readonly amount: Money; readonly isAll: boolean } | null {
  const { due } = status;
  const paid = paidWith(status);
  if (!due || !paid) return null;
  const done = refunds.filter(({ state }) => state === "succeeded");
  const amount = done.reduce((sum, each) => sum + amountOf(each.amount), 0n);
  if (amount === 0n) return null;
  // What is too much is not the merchant's, and no refund.
  const isAll = amount >= amountOf(excessOf(status) ? due : paid);
  return { amount: presentAmount({ amount, asset: due.asset }), isAll };
}

/** Atomic units of money that we presented ourselves. */
export function amountOf({ amount, asset }: { readonly amount: string; readonly asset: string }): bigint {
  return parseAmount({ amount, asset }, "").amount;
}

/** Pure. */
export function phaseOf({ position, intent, returned }: OpenPayment, now: Date): Phase {
  const { clearing } = position;
  if (!clearing) {
    if (intent.status === "cancelled") return "cancelled";
    return intent.status === "created" && now < intent.expiresAt ? "choose" : "expired";
  }
  const { state } = clearing;
  switch (state) {
    case "created":
    case "awaiting-funds":
    case "funds-detected":
      return openPhase(position);
    case "funds-received":
    case "settling":
      return "settling";
    case "settled":
      return "paid";
    case "reversed":
      return "failed";
    case "returned":
      return returned.some((each) => each.state !== "failed") ? "returned" : "failed";
    case "in-review":
    case "failed":
    case "expired":
    case "cancelled":
      return state;
    default:
      return unreachable(state);
  }
}

function openPhase({ clearing, deposit }: OpenPayment["position"]): Phase {
  const received = deposit ? amountOf(deposit.received) : 0n;
  const isShort = deposit !== null && received > 0n && received < amountOf(deposit.amount);
  if (isShort) return "underpaid";
  return clearing?.state === "funds-detected" ? "detected" : "waiting";
}

/** Nothing follows by itself any more. */
export function isOver({ phase }: Pick<CheckoutStatus, "phase">): boolean {
  return ["paid", "expired", "failed", "cancelled", "returned"].includes(phase);
}

/** Money is on its way back. */
export function isReturning({ returned }: Pick<CheckoutStatus, "returned">): boolean {
  return returned.some(({ state }) => state !== "sent");
}

/** Nothing more can be done here, and it is not paid: only the merchant can help. */
export function isDeadEnd({ phase }: Pick<CheckoutStatus, "phase">): boolean {
  return ["expired", "failed", "cancelled"].includes(phase);
}

/** It ended, and nothing of it is here or held for it: whoever was to pay may begin anew. Pure. */
export function isUnpaid({ clearing }: OpenPayment, { phase, received }: CheckoutStatus): boolean {
  if (phase !== "failed") return ["expired", "cancelled", "returned"].includes(phase);
  // A step that failed came after the money, which lies at a provider where nothing came to us.
  return clearing?.state === "failed" && clearing.failedSteps === 0 && !(received && amountOf(received) > 0n);
}

/** A signature did not pay it, and another one can. Pure. */
export function isPayableAgain(payment: OpenPayment, status: CheckoutStatus): boolean {
  const isOpen = status.executionPath === "x402" && status.now < status.expiresAt;
  return status.phase === "failed" && isOpen && isUnpaid(payment, status);
}

/** Whether a signature of the payer's can pay it on that rail now, so that it costs no gas. */
export function isGasless({ intent, clearing }: OpenPayment, { chain, asset }: RailFacts): boolean {
  const { offerAmount, offerRails, currency } = intent;
  const isOpen = clearing?.state === "awaiting-funds" || clearing?.state === "failed";
  if (offerAmount === null || offerRails === null || !isOpen) return false;
  if (offerRails.length === 0) return atParity(currency, asset);
  return offerRails.some((each) => each.chain === chain && each.asset === asset);
}

import { assert } from "#kernel/fault";

/** Where an invoice stands. Source: merchant-api.md §1.6. */
export const invoiceStates = ["draft", "open", "paid", "uncollectible", "void"] as const;
export type InvoiceState = (typeof invoiceStates)[number];
export type InvoiceTrigger = "issue" | "pay" | "void" | "write-off" | "reopen";

type Steps = Partial<Record<InvoiceTrigger, InvoiceState>>;

/** What leads where. A draft may also be deleted; what was paid opens again only when its payment is reversed. */
export const invoiceTransitions = {
  draft: { issue: "open" },
  open: { pay: "paid", void: "void", "write-off": "uncollectible" },
  uncollectible: { pay: "paid", void: "void" },
  paid: { reopen: "open" },
  void: {},
} as const satisfies Record<InvoiceState, Steps>;

/** Where `trigger` leads from `from`. A step that the table has not is a bug. Pure. */
export function advance(from: InvoiceState, trigger: InvoiceTrigger): InvoiceState {
  const { [trigger]: to }: Steps = invoiceTransitions[from];
  assert(to, `an invoice that is ${from} does not ${trigger}`);
  return to;
}

/** Somebody may still pay it. */
export function isPayable(state: InvoiceState): boolean {
  return state === "open" || state === "uncollectible";
}

/** How it looks to who waits for its money. Source: merchant-api.md §1.6, §2.4. */
export const invoiceStatuses = [
  "draft",
  "open",
  "partially-paid",
  "paid",
  "overdue",
  "void",
  "uncollectible",
] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

/** What the status is made of. Amounts in atomic units of one currency. */
export interface Owed {
  readonly state: InvoiceState;
  readonly total: bigint;
  /** By completed payments, less what was refunded. */
  readonly paid: bigint;
  readonly issuedAt: Date | null;
  readonly dueAt: Date | null;
}

/** What is still to be paid. Of what is paid nothing is, whatever was refunded; nor of what is void. */
export function outstandingOf({ state, total, paid }: Omit<Owed, "issuedAt" | "dueAt">): bigint {
  if (state === "paid" || state === "void") return 0n;
  return paid < total ? total - paid : 0n;
}

/** How much of the price of a paid invoice has gone back; null where it is kept, as when it was paid twice and once given
 *  back. Amounts in atomic units. Pure. */
export function refundedPart(
  { state, total, collected }: Pick<Owed, "state" | "total"> & { readonly collected: bigint },
  refunded: bigint,
): "all" | "part" | null {
  const kept = collected - refunded;
  if (state !== "paid" || kept >= total) return null;
  return kept > 0n ? "part" : "all";
}

export const DAY_MS = 86_400_000;

/** Nobody is born overdue: what is due as it is issued has a day. Source: merchant-api.md §8. */
function isPastDue({ issuedAt, dueAt }: Owed, now: Date): boolean {
  if (dueAt === null) return false;
  const isDueAtOnce = issuedAt !== null && dueAt <= issuedAt;
  return dueAt.getTime() + (isDueAtOnce ? DAY_MS : 0) < now.getTime();
}

export function statusOf(owed: Owed, now: Date): InvoiceStatus {
  if (owed.state !== "open") return owed.state;
  if (isPastDue(owed, now) && outstandingOf(owed) > 0n) return "overdue";
  return owed.paid > 0n ? "partially-paid" : "open";
}

import type { outbox, Tx } from "#store";
import type { InvoiceDesk } from "../invoice/verbs/desk.ts";
import { billDue } from "./verbs/bill.ts";
import { endUnpaid, hearInvoices, voidOpen } from "./verbs/follow.ts";

/** Often enough that a sandbox whose clock was moved bills at once; a turn with nothing to do reads two small indexes. */
const TICK_MS = 1_000;

/** What goes on with subscriptions without being asked: cycles are issued, and what is never paid comes to its end. */
export function subscriptionLoops(desk: InvoiceDesk) {
  return [
    { name: "subscriptions", everyMs: TICK_MS, turn: () => billDue(desk) },
    {
      name: "subscriptions-end",
      everyMs: TICK_MS,
      turn: async () => (await endUnpaid(desk)) + (await voidOpen(desk)),
    },
  ] as const;
}

/** Hears what became of invoices. */
export function subscriptionHearer(desk: InvoiceDesk) {
  return (tx: Tx, facts: readonly outbox.Fact[]): Promise<void> => hearInvoices(tx, desk, facts);
}

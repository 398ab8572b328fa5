import type { outbox, Tx } from "#store";
import { hearAgents } from "./verbs/agents.ts";
import type { InvoiceDesk } from "./verbs/desk.ts";
import { followPayments, hearPayments } from "./verbs/follow.ts";
import { remindBuyers, tellOverdue } from "./verbs/remind.ts";

interface Loop {
  readonly name: string;
  readonly everyMs: number;
  turn(): Promise<number>;
}

const FOLLOW_MS = 200;
const TICK_MS = 1_000;

/** What goes on with invoices without being asked: payments count, due dates pass, buyers are reminded. */
export function invoiceLoops(desk: InvoiceDesk): readonly Loop[] {
  return [
    { name: "invoices", everyMs: FOLLOW_MS, turn: () => followPayments(desk) },
    {
      name: "invoices-due",
      everyMs: TICK_MS,
      turn: async () => (await tellOverdue(desk)) + (await remindBuyers(desk)),
    },
  ];
}

/** Hears what was paid: agents' payments become payments, and every payment is looked at by the loop. */
export function invoiceHearer(desk: InvoiceDesk) {
  return async (tx: Tx, facts: readonly outbox.Fact[]): Promise<void> => {
    await hearAgents(tx, desk, facts);
    await hearPayments(tx, facts, desk.now());
  };
}

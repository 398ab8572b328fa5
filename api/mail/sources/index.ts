import type { outbox, Tx } from "#store";
import type { Draft } from "../message.ts";
import type { MailDesk } from "../verbs/desk.ts";
import { queueMails } from "../verbs/queue.ts";
import { endpoints } from "./endpoint.ts";
import { invoiceReminders, issuedInvoices, sentInvoices } from "./invoice.ts";
import { merchantChanges } from "./merchant.ts";
import { receipts } from "./payment.ts";
import { payoutAddresses } from "./payout.ts";
import { paidRefunds, waitingRefunds } from "./refund.ts";
import { sentReturns } from "./return.ts";
import type { Source } from "./source.ts";

/** Which facts call for mail, and how it is found out what mail. */
const sources: Readonly<Record<string, Source>> = {
  "invoice.issued": issuedInvoices,
  "invoice.batch_cut": issuedInvoices,
  "invoice.sent": sentInvoices,
  "invoice.reminder_due": invoiceReminders,
  "payment.completed": receipts,
  "refund.requires_destination": waitingRefunds,
  "refund.succeeded": paidRefunds,
  "return.sent": sentReturns,
  "payout_address.added": payoutAddresses,
  "merchant.updated": merchantChanges,
  "webhook_endpoint.failing": endpoints,
  "webhook_endpoint.disabled": endpoints,
};

/** Hears what calls for mail, and writes the mail down in the same transaction. */
export function mailHearer(desk: MailDesk) {
  return async (tx: Tx, facts: readonly outbox.Fact[]): Promise<void> => {
    const drafts: Draft[] = [];
    for (const [type, source] of Object.entries(sources)) {
      const about = facts.filter((fact) => fact.type === type);
      if (about.length > 0) drafts.push(...(await source(tx, about, desk)));
    }
    await queueMails(tx, desk, drafts);
  };
}

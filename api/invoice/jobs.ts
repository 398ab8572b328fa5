import type { Job } from "../http/job.ts";
import { areRailsChanged } from "../merchant/verbs/rails.ts";
import { type Republishing, republishInvoices } from "./verbs/republish.ts";

/** Keeps what agents are told of invoices as their merchant wants it. */
export function invoiceJobs(desk: Republishing): readonly Job[] {
  return [
    {
      name: "publish-invoices-again",
      hears: ["merchant.updated"],
      attempts: 10,
      async run({ fact, stopping }) {
        if (fact && areRailsChanged(fact)) await republishInvoices(desk, fact.merchantId, stopping);
      },
    },
  ];
}

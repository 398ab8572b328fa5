import type { outbox, Tx } from "#store";
import { clearingHearer } from "./clearing/hear.ts";
import { clearingLoops, type MoneyLoop } from "./clearing/loop.ts";
import { dashboardJobs } from "./dashboard/jobs.ts";
import type { ApiDeps } from "./deps.ts";
import type { Desks } from "./desks.ts";
import type { Job } from "./http/job.ts";
import { requestJobs } from "./http/jobs.ts";
import { invoiceHearer, invoiceLoops } from "./invoice/loop.ts";
import { republishInvoices } from "./invoice/verbs/republish.ts";
import { mailJobs } from "./mail/jobs.ts";
import { mailHearer } from "./mail/sources/index.ts";
import { whenTermsChange } from "./merchant/jobs.ts";
import { republishIntents } from "./payment-intent/verbs/republish.ts";
import { linkHearer } from "./payment-link/hear.ts";
import { republishLinks } from "./payment-link/verbs/republish.ts";
import { payoutHearer } from "./payout/events.ts";
import { providerJobs } from "./provider/jobs.ts";
import { providerHearer, providerLoop } from "./provider/loop.ts";
import { refundHearer, refundLoop } from "./refund/loop.ts";
import { resourceJobs } from "./resource/jobs.ts";
import { subscriptionJobs } from "./subscription/jobs.ts";
import { subscriptionHearer, subscriptionLoops } from "./subscription/loop.ts";
import { createCourier } from "./webhook/courier.ts";
import { merchantTeller, webhookHearer } from "./webhook/hear.ts";
import { webhookJobs } from "./webhook/jobs.ts";

type Parts = Pick<ApiDeps, "db" | "facilitator" | "clock" | "newId" | "log">;

/** What has to be done apart from requests. */
export function jobsOf({ db, facilitator, clock, newId, log }: Parts, desks: Desks): readonly Job[] {
  const { intents, invoices, loopDb, merchantClock, now, safeFetch, mail } = desks;
  return [
    ...requestJobs({ db, clock: merchantClock }),
    ...dashboardJobs({ db, clock }),
    whenTermsChange("publish-intents-again", (id, stopping) => republishIntents(intents, id, stopping)),
    whenTermsChange("publish-links-again", (id, stopping) => republishLinks(intents, id, stopping)),
    whenTermsChange("publish-invoices-again", (id, stopping) => republishInvoices(invoices, id, stopping)),
    ...resourceJobs({ db, facilitator, safeFetch, clock, log }),
    ...subscriptionJobs({ db, newId, now }),
    ...providerJobs(desks.provider),
    ...webhookJobs({ db: loopDb, now }),
    ...(mail ? mailJobs(mail) : []),
  ];
}

/** What moves money on: over and over, in every process that may. */
export function loopsOf({ facilitator, newId, log }: Parts, desks: Desks): readonly MoneyLoop[] {
  const { loopDb: db, clearing, invoices, provider } = desks;
  return [
    ...clearingLoops({ ...clearing, db }),
    ...invoiceLoops({ ...invoices, db }),
    ...subscriptionLoops({ ...invoices, db }),
    refundLoop({ db, facilitator, clock: desks.merchantClock, newId, log }),
    ...(desks.providers.size > 0 ? [providerLoop({ ...provider, db })] : []),
    createCourier(desks.courier),
  ];
}

/** Told of facts in the transaction that marks them as delivered. */
export type Hearer = (tx: Tx, facts: readonly outbox.ToldFact[]) => Promise<void>;

/** Who inside wants to know of facts. */
export function hearersOf({ facilitator, newId }: Parts, desks: Desks): readonly Hearer[] {
  const { clearing, invoices, telling, mail } = desks;
  return [
    clearingHearer(clearing, merchantTeller(telling)),
    linkHearer(clearing),
    refundHearer({ clock: desks.merchantClock }),
    invoiceHearer(invoices),
    subscriptionHearer(invoices),
    providerHearer(desks.provider),
    payoutHearer({ facilitator, newId }),
    webhookHearer({ ...telling, families: desks.families }),
    ...(mail ? [mailHearer(mail)] : []),
  ];
}

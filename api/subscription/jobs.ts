import type { Job } from "../http/job.ts";
import { type Renaming, renameSubscriber } from "./verbs/rename.ts";

/** Keeps what subscriptions show of their customers as it is today: they are found by it. */
export function subscriptionJobs(renaming: Renaming): readonly Job[] {
  return [
    {
      name: "rename-subscriber",
      hears: ["customer.updated"],
      attempts: 10,
      async run({ fact }) {
        if (fact) await renameSubscriber(renaming, { merchantId: fact.merchantId, customerId: fact.subject });
      },
    },
  ];
}

import type { Job } from "../http/job.ts";
import { areRailsChanged } from "../merchant/verbs/rails.ts";
import { type Republishing, republishIntents } from "./verbs/republish.ts";

/** Keeps what agents are told of intents as their merchant wants it. */
export function intentJobs(desk: Republishing): readonly Job[] {
  return [
    {
      name: "publish-intents-again",
      hears: ["merchant.updated"],
      attempts: 10,
      async run({ fact, stopping }) {
        if (fact && areRailsChanged(fact)) await republishIntents(desk, fact.merchantId, stopping);
      },
    },
  ];
}

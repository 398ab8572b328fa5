import type { Job } from "../http/job.ts";
import { areRailsChanged } from "../merchant/verbs/rails.ts";
import { type Republishing, republishLinks } from "./verbs/republish.ts";

/** Keeps what agents are told of links as their merchant wants it. */
export function linkJobs(desk: Republishing): readonly Job[] {
  return [
    {
      name: "publish-links-again",
      hears: ["merchant.updated"],
      attempts: 10,
      async run({ fact, stopping }) {
        if (fact && areRailsChanged(fact)) await republishLinks(desk, fact.merchantId, stopping);
      },
    },
  ];
}

import type { Facilitator } from "#facilitator";
import type { Job } from "../http/job.ts";
import { forgetDomains } from "./allowance.ts";
import { type Prober, probeDue, probeListed } from "./prober.ts";
import { projectAgain } from "./verbs.ts";

/** Looks after what is listed: a probe when it is listed or changed, then at its times. */
export function resourceJobs(
  prober: Prober & { readonly facilitator: Pick<Facilitator, "rails" | "assess" | "tidy" | "project"> },
): readonly Job[] {
  return [
    {
      name: "probe-resource",
      hears: ["x402.resource.registered", "x402.resource.listed"],
      attempts: 3,
      async run({ fact, stopping }) {
        if (fact)
          await probeListed(prober, { merchantId: fact.merchantId, resourceId: fact.subject }, stopping);
      },
    },
    {
      name: "project-resources-again",
      hears: ["merchant.updated"],
      attempts: 10,
      async run({ fact }) {
        if (fact) await projectAgain(prober, fact.merchantId);
      },
    },
    {
      name: "probe-due",
      at: "* * * * *",
      attempts: 1,
      run: ({ stopping }) => probeDue(prober, stopping),
    },
    {
      name: "tidy-discovery",
      at: "17 * * * *",
      attempts: 3,
      async run() {
        await prober.facilitator.tidy();
        await forgetDomains(prober.db);
      },
    },
  ];
}

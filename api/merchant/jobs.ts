import type { Job } from "../http/job.ts";

/** Offers anew what a merchant sells when its rails have changed. */
export function whenRailsChange(
  name: string,
  republish: (merchantId: string, stopping: AbortSignal) => Promise<void>,
): Job {
  return {
    name,
    hears: ["merchant.updated"],
    attempts: 10,
    async run({ fact, stopping }) {
      const changed = fact?.payload.changed;
      if (fact && Array.isArray(changed) && changed.includes("rails"))
        await republish(fact.merchantId, stopping);
    },
  };
}

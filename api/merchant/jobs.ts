import type { Job } from "../http/job.ts";

/** What an offer holds of its merchant. */
const terms: readonly unknown[] = ["rails", "feeBps", "suspendedAt"];

/** Offers anew what a merchant sells when its rails, or our fee, have changed, or whether it may sell. */
export function whenTermsChange(
  name: string,
  republish: (merchantId: string, stopping: AbortSignal) => Promise<void>,
): Job {
  return {
    name,
    hears: ["merchant.updated"],
    attempts: 10,
    async run({ fact, stopping }) {
      const changed = fact?.payload.changed;
      if (fact && Array.isArray(changed) && changed.some((name) => terms.includes(name)))
        await republish(fact.merchantId, stopping);
    },
  };
}

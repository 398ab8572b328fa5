/** An issuer may put another contract behind a token's proxy: what was checked at boot is looked at again. */
import { type Loop, loop } from "#facilitator";
import { errorFields } from "#kernel/log";
import type { WatchedChain } from "./open-chain.ts";

const DAY_MS = 86_400_000;
/** After a look that the chain did not answer, and while a rail is paused: one endpoint may have lied. */
const AGAIN_MS = 600_000;

/** A loop for each chain. Boot has just looked, so the first look comes a day later. */
export function railWatches(
  chains: readonly WatchedChain[],
  { clock, log, meter }: Omit<Parameters<typeof loop>[0], "name" | "everyMs">,
): readonly Loop[] {
  return chains.map((open) => {
    const { slug } = open.chain.row;
    let isFirst = true;
    return loop({ name: `rails:${slug}`, clock, log, meter, everyMs: DAY_MS }, async () => {
      if (isFirst) {
        isFirst = false;
        return DAY_MS;
      }
      try {
        await open.recheckRails();
        return open.rails.some((rail) => rail.ok && rail.paused !== null) ? AGAIN_MS : DAY_MS;
      } catch (error) {
        log.warn({ chain: slug, ...errorFields(error) }, "the tokens could not be looked at; tried again");
        return AGAIN_MS;
      }
    });
  });
}

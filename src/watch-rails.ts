/** An issuer may put another contract behind a token's proxy: what was checked at boot is looked at again. */
import { isTaken, type Loop, loop, type Rail } from "#facilitator";
import { errorFields } from "#kernel/log";
import type { WatchedChain } from "./open-chain.ts";

const DAY_MS = 86_400_000;
/** After a look that the chain did not answer, and while a rail is refused or paused: one endpoint may have lied. */
const AGAIN_MS = 600_000;
/** While endpoints that are down, or differ, keep a rail from being taken. */
const SOON_MS = 15_000;

/** A loop for each chain. Boot has just looked, so the first look comes a day later, where all is well. */
export function railWatches(
  chains: readonly WatchedChain[],
  { clock, log, meter }: Omit<Parameters<typeof loop>[0], "name" | "everyMs">,
): readonly Loop[] {
  return chains.map((open) => {
    const { slug } = open.chain.row;
    const pause = () => pauseOf(open.rails);
    let isFirst = true;
    return loop({ name: `rails:${slug}`, clock, log, meter, everyMs: DAY_MS }, async () => {
      if (isFirst) {
        isFirst = false;
        return pause();
      }
      try {
        await open.recheckRails();
        return pause();
      } catch (error) {
        log.warn({ chain: slug, ...errorFields(error) }, "the tokens could not be looked at; tried again");
        return Math.min(pause(), AGAIN_MS);
      }
    });
  });
}

function pauseOf(rails: readonly Rail[]): number {
  if (rails.some((rail) => !rail.ok && rail.isUnheard)) return SOON_MS;
  return rails.every(isTaken) ? DAY_MS : AGAIN_MS;
}

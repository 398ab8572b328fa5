import type { MoneyLoop } from "#api";
import { type Engine, type Loop, loop } from "#facilitator";

const LONGEST_PAUSE_MS = 1_000;

/** Turn after turn while there is something to do, then a pause, which grows while there is nothing. What follows from
 *  a fact need not wait for its end: facts that were told wake the loop. */
export function looped({ clock, log, meter }: Engine, { name, everyMs, turn, stop }: MoneyLoop): Loop {
  const longestMs = Math.max(everyMs, LONGEST_PAUSE_MS);
  let pauseMs = everyMs;
  const running = loop({ name, clock, log, meter, everyMs }, async (stopping) => {
    pauseMs = Math.min(pauseMs * 2, longestMs);
    while (!stopping.aborted && (await turn()) > 0) pauseMs = everyMs;
    return pauseMs;
  });
  if (!stop) return running;
  return {
    ...running,
    async stop() {
      await running.stop();
      await stop();
    },
  };
}

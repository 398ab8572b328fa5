import { errorFields } from "#kernel/log";
import type { Engine } from "../engine.ts";

/** How often it is looked whether the house has followed, ms. Source: settlement.md S9. */
const LOOK_MS = 15;
/** Of a crowd nobody waits: what is told gives way to those who pay. */
const CROWD = 16;

/** The rest of the house, which hears of payments after they were credited. */
export interface Followers {
  /** What is untold is told now. */
  hurry(): void;
  /** Whether what the merchant would read shows all that was credited. */
  areCaughtUp(merchantId: string): Promise<boolean>;
}

export interface Telling {
  /** Counts a settle until what it returns is called. */
  enter(): () => void;
  /** Resolves when who reads next sees what was paid, or when that takes too long. */
  untilTold(merchantId: string): Promise<void>;
}

export function telling({ clock, log, settings }: Engine, followers: Followers | undefined): Telling {
  let settles = 0;
  return {
    enter() {
      settles += 1;
      return () => {
        settles -= 1;
      };
    },
    async untilTold(merchantId) {
      if (!followers || settles > CROWD) return;
      const until = clock.monotonicMs() + settings.toldWithinMs;
      try {
        for (followers.hurry(); !(await followers.areCaughtUp(merchantId)); followers.hurry()) {
          if (clock.monotonicMs() >= until) return;
          await clock.sleep(LOOK_MS);
        }
      } catch (error) {
        log.warn(
          errorFields(error),
          "whether a payment was told could not be asked: it is answered all the same",
        );
      }
    },
  };
}

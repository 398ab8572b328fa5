import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import { type Database, outbox, type Tx } from "#store";

/** Somebody inside the house who wants to know; called in the transaction that marks the fact as delivered. */
export type Hearer = (tx: Tx, facts: readonly outbox.ToldFact[]) => Promise<void>;

const GROUP = 250;
const PAUSE_MS = 150;
/** Payments come in waves, each with a block: what is told waits for the calm between them. In a storm without one it waits
 *  for so long, and then takes turns with them until all is told. */
const GIVE_WAY_MS = 5_000;
const TURN_MS = 100;
const LOOK_MS = 30;
const CALM_LOOKS = 3;

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether somebody is about to pay. */
  readonly isBusy: () => boolean;
  /** Facts were told: there may be something to do. */
  readonly told: () => void;
}

/** Carries facts from the outbox to the house's hearers, in the order in which they were written, at least once. */
export function relay({ db, clock, log, isBusy, told }: Needs, hearers: readonly Hearer[]) {
  const stopping = new AbortController();
  let running = Promise.resolve();
  /** Ends the pause that is under way. */
  let awake = new AbortController();
  /** How often somebody asked for haste, and how many of those all was told since. */
  let asked = 0;
  let heard = 0;
  async function pause(ms: number): Promise<void> {
    awake = new AbortController();
    if (!stopping.signal.aborted) await clock.sleep(ms, awake.signal);
  }
  async function run(): Promise<void> {
    let caughtUpAt = clock.monotonicMs();
    while (!stopping.signal.aborted) {
      const asking = asked;
      if (asking === heard || isBusy())
        await giveWay(Math.max(caughtUpAt + GIVE_WAY_MS, clock.monotonicMs() + TURN_MS));
      const delivered = await deliver().catch((error) => {
        log.warn(errorFields(error), "facts could not be delivered; the next turn tries again");
        return 0;
      });
      if (delivered > 0) told();
      if (delivered === GROUP) continue;
      caughtUpAt = clock.monotonicMs();
      // Who hears of a fact may have written another, which is waited for as well.
      if (delivered === 0) heard = asking;
      if (asked === heard) await pause(PAUSE_MS);
    }
  }
  async function giveWay(until: number): Promise<void> {
    let calm = 0;
    while (
      calm < (asked > heard ? 1 : CALM_LOOKS) &&
      clock.monotonicMs() < until &&
      !stopping.signal.aborted
    ) {
      await pause(LOOK_MS);
      calm = isBusy() ? 0 : calm + 1;
    }
  }
  const deliver = () =>
    outbox.deliver(
      db,
      GROUP,
      async (tx, facts) => {
        for (const hear of hearers) await hear(tx, facts);
      },
      ({ fact: { id, type }, error, isDead }) => {
        const fields = { fact: id, type, ...errorFields(error) };
        if (isDead) log.error(fields, "a fact was set aside: `farebox facts redeliver` has it told again");
        else log.warn(fields, "a fact could not be told; it is told again later");
      },
    );
  return {
    start() {
      running = run();
    },
    /** Somebody waits for what was written: it is told now, unless others are about to pay. */
    hurry() {
      asked += 1;
      awake.abort();
    },
    stop() {
      stopping.abort();
      awake.abort();
      return running;
    },
  };
}

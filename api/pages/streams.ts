import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { CheckoutStatus } from "./schema.ts";

type Listener = (status: CheckoutStatus, sequence: string) => void;

/** What is watched, and by whom. */
interface Watched {
  readonly merchantId: string;
  readonly id: string;
  readonly listeners: Set<Listener>;
  mark: string;
  told: string;
}

interface Watching {
  /** What changes whenever there is news, for all at once. */
  readonly marks: (
    named: readonly { readonly merchantId: string; readonly id: string }[],
  ) => Promise<ReadonlyMap<string, string>>;
  readonly read: (id: string) => Promise<{ readonly status: CheckoutStatus; readonly sequence: string }>;
  readonly clock: Clock;
  readonly log: Log;
}

/** News of payments for the pages that wait for them. */
export interface Streams {
  /** Tells what is new from now on; the function returned ends it. Null when too many listen already. */
  follow(
    at: { readonly merchantId: string; readonly id: string; readonly who: string },
    listener: Listener,
  ): (() => void) | null;
}

const EVERY_MS = 1_000;
const MOST = 2_000;
const MOST_OF_ONE = 30;

/** One query a second for all streams of this process, none while nobody listens. */
export function createStreams({ marks, read, clock, log }: Watching): Streams {
  const watched = new Map<string, Watched>();
  const streamsOf = new Map<string, number>();
  let open = 0;
  let isRunning = false;

  const noNews = (error: unknown) => log.warn(errorFields(error), "pages got no news");

  async function run(): Promise<void> {
    while (watched.size > 0) {
      await clock.sleep(EVERY_MS);
      // Whoever has left meanwhile may have been the last before the database closed.
      if (watched.size === 0) break;
      await look([...watched.values()]).catch(noNews);
    }
    isRunning = false;
  }

  async function look(all: readonly Watched[]): Promise<void> {
    const now = await marks(all);
    // One that cannot be read keeps nobody else from news.
    for (const each of all) await lookAt(each, now.get(each.id) ?? "").catch(noNews);
  }

  async function lookAt(each: Watched, mark: string): Promise<void> {
    const isLeft = each.listeners.size === 0;
    if (isLeft || (mark === each.mark && !isCounting(each))) return;
    const { status, sequence } = await read(each.id);
    const told = newsOf(status);
    if (told !== each.told) for (const listener of each.listeners) listener(status, sequence);
    Object.assign(each, { mark, told });
  }

  return {
    follow({ merchantId, id, who }, listener) {
      const mine = streamsOf.get(who) ?? 0;
      if (open >= MOST || mine >= MOST_OF_ONE) return null;
      const each = watched.get(id) ?? { merchantId, id, listeners: new Set(), mark: "", told: "" };
      watched.set(id, each);
      // What others were told after this one looked is told once more.
      Object.assign(each, { mark: "", told: "" });
      each.listeners.add(listener);
      streamsOf.set(who, mine + 1);
      open += 1;
      if (!isRunning) {
        isRunning = true;
        void run();
      }
      return () => {
        if (!each.listeners.delete(listener)) return;
        open -= 1;
        const left = (streamsOf.get(who) ?? 1) - 1;
        if (left > 0) streamsOf.set(who, left);
        else streamsOf.delete(who);
        if (each.listeners.size === 0) watched.delete(id);
      };
    },
  };
}

/** Confirmations grow with blocks, and no row says so. */
function isCounting({ told }: Watched): boolean {
  return told.includes('"phase":"detected"') || told.includes('"phase":"underpaid"');
}

/** What is worth telling: all but the time. */
function newsOf({ now: _, ...rest }: CheckoutStatus): string {
  return JSON.stringify(rest);
}

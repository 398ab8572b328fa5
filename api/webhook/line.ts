import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Database } from "#store";
import { type Due, keepEndpoint, LEASE_SECONDS, leaveEndpoint, readDue, urlOf } from "./due.ts";
import type { EndpointRow } from "./present.ts";
import type { Result } from "./record.ts";
import type { Seal } from "./seal.ts";
import { replacedIn } from "./secrets.ts";
import { type Sender, send, type Target } from "./send.ts";

/** What serving one endpoint needs. */
export interface Line extends Sender {
  readonly db: Database;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly seal: Seal;
  readonly log: Log;
  /** Statements wait here for each other. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly record: (result: Result) => Promise<void>;
  /** Nothing more is begun. */
  readonly stopping: AbortSignal;
  /** Requests under way, to be given up one by one: a signal that outlives them all would keep a trace of each. */
  readonly underWay: Set<AbortController>;
}

const AT_ONCE = 8;
const GROUP = 128;
/** Ends that wait to be written down hold up what is sent, when they become too many. */
const MOST_IN_HAND = 512;
/** Given to abort, which makes an exception with a stack for each call that has none. */
const WOKEN = "woken";
/** How often the endpoint's row is looked at, and held on to: a changed address or secret counts from then on. */
const KEEP_EVERY_MS = 2_000;
/** The last attempt that is begun on a lease ends before it: attempts take 15 s at most. */
const LAST_START_MS = (LEASE_SECONDS - 17) * 1_000;
/** How soon a look for more is worth another statement when something has ended, and when nothing has. */
const LOOK_AGAIN_MS = 20;
const LOOK_ANYWAY_MS = 500;
/** An endpoint that fails makes room for others after so long, and queues up behind them. */
const FAILING_TURN_MS = 10_000;

/** An endpoint in this process's hands. */
interface Held {
  endpoint: EndpointRow;
  target: Target;
  keptAt: number;
  isLost: boolean;
  /** Requests under way. */
  open: number;
  /** Ids of deliveries that are under way, or whose end is not written down yet. */
  readonly inHand: Set<string>;
  /** Something has ended since the last look. */
  hasNews: boolean;
  /** Aborts when something ends. */
  awake: AbortController;
  readonly since: number;
}

/** Sends an endpoint what is due to it, a few requests at a time, until nothing is. */
export async function serveLine(line: Line, endpoint: EndpointRow): Promise<void> {
  const { clock } = line;
  const since = clock.monotonicMs();
  const held: Held = {
    ...{ endpoint, target: targetOf(line, endpoint), since, keptAt: since, isLost: false },
    ...{ open: 0, inHand: new Set(), hasNews: false, awake: new AbortController() },
  };
  const queue: Due[] = [];
  let looked = { at: since, isMore: true };
  for (;;) {
    await keep(line, held);
    const patience = held.hasNews ? LOOK_AGAIN_MS : LOOK_ANYWAY_MS;
    const isLookDue = looked.isMore || held.inHand.size === 0 || clock.monotonicMs() - looked.at >= patience;
    if (queue.length === 0 && isLookDue && mayStart(line, held)) {
      held.hasNews = false;
      const found = await look(line, held);
      looked = { at: clock.monotonicMs(), isMore: found.length === GROUP };
      queue.push(...found);
    }
    while (mayStart(line, held)) {
      const due = queue.shift();
      if (!due) break;
      void sendOne(line, held, due);
    }
    // What ended while the last look was under way may have let others go.
    if (held.inHand.size === 0 && !(held.hasNews && mayStart(line, held))) break;
    if (!(looked.isMore && mayStart(line, held))) await pause(line, held);
  }
  await line.inTurn(() => leaveEndpoint(line.db, held.endpoint));
}

/** Until something ends. What has ended already is worth a look soon, but not one each. */
async function pause(line: Line, held: Held): Promise<void> {
  if (held.hasNews && mayStart(line, held)) return line.clock.sleep(LOOK_AGAIN_MS);
  held.awake = new AbortController();
  return line.clock.sleep(LOOK_ANYWAY_MS, held.awake.signal);
}

function mayStart({ clock, stopping }: Line, held: Held): boolean {
  const { isLost, keptAt, open, inHand, since, endpoint } = held;
  if (stopping.aborted || isLost || open >= AT_ONCE || inHand.size >= MOST_IN_HAND) return false;
  const now = clock.monotonicMs();
  const isPatient = endpoint.failingSince === null || now - since < FAILING_TURN_MS;
  return isPatient && now - keptAt < LAST_START_MS;
}

/** Holds on to the endpoint while it is served. A database that does not answer is no reason to stop at once: the lease
 *  still stands. */
async function keep({ db, clock, inTurn, seal, now }: Line, held: Held): Promise<void> {
  if (held.isLost || clock.monotonicMs() - held.keptAt < KEEP_EVERY_MS) return;
  const askedAt = clock.monotonicMs();
  const row = await inTurn(() => keepEndpoint(db, held.endpoint)).catch(() => undefined);
  if (row === undefined) return;
  if (row === null) {
    held.isLost = true;
    return;
  }
  held.endpoint = row;
  held.target = targetOf({ seal, now }, row);
  held.keptAt = askedAt;
}

function look({ db, now, inTurn }: Line, { endpoint, inHand }: Held): Promise<readonly Due[]> {
  return inTurn(() => readDue(db, endpoint, { now: now(), inHand: [...inHand], limit: GROUP }));
}

/** One attempt, written down. What could not be written is sent again by whoever holds the endpoint next. */
async function sendOne(line: Line, held: Held, { delivery, event }: Due): Promise<void> {
  const { log, underWay, now } = line;
  const giveUp = new AbortController();
  underWay.add(giveUp);
  held.inHand.add(delivery.id);
  held.open += 1;
  try {
    const { target } = held;
    const sending = send(line, target, event, { at: now(), signal: giveUp.signal });
    const outcome = await sending.finally(() => {
      underWay.delete(giveUp);
      held.open -= 1;
    });
    // Nothing more for who is gone, before that is written down.
    if (outcome.isGone) held.isLost = true;
    wake(held);
    // Given up by us: nobody knows what became of it, so it counts as not made.
    if (giveUp.signal.aborted && !outcome.isAccepted) return;
    const isGone = outcome.isGone && !(await hasMoved(line, held, target));
    await line.record({ delivery, outcome: { ...outcome, isGone } });
  } catch (error) {
    held.isLost = true;
    log.warn(
      { delivery: delivery.id, ...errorFields(error) },
      "what came of a delivery could not be written down; it is sent again",
    );
  } finally {
    held.inHand.delete(delivery.id);
    wake(held);
  }
}

/** Its merchant named another address while it was sent to the old one: what is gone is that, and nobody listens there. */
async function hasMoved({ db, inTurn }: Line, { endpoint }: Held, { url }: Target): Promise<boolean> {
  const today = await inTurn(() => urlOf(db, endpoint));
  return today !== null && today !== url;
}

function wake(held: Held): void {
  held.hasNews = true;
  held.awake.abort(WOKEN);
}

function targetOf({ seal, now }: Pick<Line, "seal" | "now">, row: EndpointRow): Target {
  const { url, secret, apiVersion, id } = row;
  const sealed = [secret, ...replacedIn(row, now()).map((replaced) => replaced.secret)];
  return { url, apiVersion, secrets: sealed.map((each) => seal.open(each, id)) };
}

import { gate } from "#kernel/gate";
import type { ChainRow } from "../../chain/registry.ts";
import type { Engine } from "../engine.ts";

/** The settles of one chain that this process has under way. */
export interface Intake {
  /** Does `work`, which counts as under way until it has ended. Where more are late than a moment's trouble explains, what
   *  comes would wait in vain and make the others later: it waits outside until there is room, and for no longer than a few
   *  seconds. Null then, and nothing was begun. A payable that has little under way has room at any time: a flood at one
   *  keeps nobody from another. `work` says when it stands for a claim: how many of those end tells how many can. */
  serve<T>(payable: string, work: (claimed: () => void) => Promise<T>): Promise<T | null>;
  /** For the way to a claim: so many at a time, the others wait in the order in which they came. */
  admit<T>(work: () => Promise<T>): Promise<T>;
  /** Those on their way to a claim. */
  admitting(): number;
}

/** Enough to fill the groups in which chain and database are asked. */
const ADMITTED_AT_ONCE = 200;

/** So long after many were late no more are taken than have ended in the time that makes one late: all that were sent away
 *  come again together. */
const CAREFUL_MS = 30_000;

/** Given to abort, which makes an exception with a stack for each call that has none. */
const LET_IN = "let in";

interface Settle {
  readonly payable: string;
  /** When it was let in. */
  sinceMs: number;
  isClaimed: boolean;
}
interface Outside {
  readonly one: Settle;
  readonly pause: AbortController;
}

export function intake(
  { slug, blockTimeSeconds }: Pick<ChainRow, "slug" | "blockTimeSeconds">,
  { clock, log, settings: { late } }: Pick<Engine, "clock" | "log" | "settings">,
): Intake {
  const { enter, size } = gate(ADMITTED_AT_ONCE);
  const lateMs = Math.max(late.ms, late.blocks * blockTimeSeconds * 1000);
  /** The oldest first. */
  const underWay = new Set<Settle>();
  const underWayAt = new Map<string, number>();
  const outside = new Set<Outside>();
  /** When the last claimed ones ended, within the time after which they would be late. */
  const ended: number[] = [];
  let areManyLate = false;
  let carefulUntilMs = 0;

  function areMoreLate(nowMs: number): boolean {
    let seen = 0;
    for (const { sinceMs } of underWay) {
      if (sinceMs > nowMs - lateMs) return false;
      seen += 1;
      if (seen > late.most) return true;
    }
    return false;
  }

  function isFull(): boolean {
    const nowMs = clock.monotonicMs();
    const were = areManyLate;
    areManyLate = areMoreLate(nowMs);
    const facts = { chain: slug, underWay: underWay.size };
    if (areManyLate && !were) log.warn(facts, "payments are late: new ones wait outside");
    if (were && !areManyLate) log.info(facts, "payments are in time again");
    if (areManyLate) carefulUntilMs = nowMs + CAREFUL_MS;
    while ((ended[0] ?? nowMs) < nowMs - lateMs) ended.shift();
    return areManyLate || (nowMs < carefulUntilMs && underWay.size >= room());
  }

  /** As many as end before they are late. */
  const room = () => Math.max(late.most, ended.length);

  /** Whether it has less under way than its share of the room, with one more to come. */
  function hasLittle(payable: string): boolean {
    return (underWayAt.get(payable) ?? 0) < Math.floor(room() / (underWayAt.size + 1));
  }

  function begin(one: Settle): void {
    one.sinceMs = clock.monotonicMs();
    underWay.add(one);
    underWayAt.set(one.payable, (underWayAt.get(one.payable) ?? 0) + 1);
  }

  function end(one: Settle): void {
    underWay.delete(one);
    if (one.isClaimed) ended.push(clock.monotonicMs());
    const left = (underWayAt.get(one.payable) ?? 1) - 1;
    if (left > 0) underWayAt.set(one.payable, left);
    else underWayAt.delete(one.payable);
    letIn();
  }

  function letIn(): void {
    for (const next of outside) {
      if (isFull()) return;
      outside.delete(next);
      begin(next.one);
      next.pause.abort(LET_IN);
    }
  }

  /** Whether it was let in. */
  async function waitOutside(one: Settle): Promise<boolean> {
    const waiting = { one, pause: new AbortController() };
    outside.add(waiting);
    letIn();
    await clock.sleep(late.outsideMs, waiting.pause.signal);
    return !outside.delete(waiting);
  }

  return {
    async serve(payable, work) {
      const one: Settle = { payable, sinceMs: 0, isClaimed: false };
      if ((outside.size === 0 && !isFull()) || hasLittle(payable)) begin(one);
      else if (!(await waitOutside(one))) return null;
      try {
        return await work(() => {
          one.isClaimed = true;
        });
      } finally {
        end(one);
      }
    },
    admit: enter,
    admitting: size,
  };
}

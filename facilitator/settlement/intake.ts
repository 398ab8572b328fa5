import { gate } from "#kernel/gate";
import type { ChainRow } from "../chain/registry.ts";
import type { Engine } from "./engine.ts";

/** The settles of one chain that this process has under way. */
export interface Intake {
  /** Does `work`, which counts as under way until it has ended. Where more are late than a moment's trouble explains, what
   *  comes would wait in vain and make the others later: it waits outside until there is room, and for no longer than a few
   *  seconds. Null then, and nothing was begun. */
  serve<T>(work: () => Promise<T>): Promise<T | null>;
  /** For the way to a claim: so many at a time, the others wait in the order in which they came. */
  admit<T>(work: () => Promise<T>): Promise<T>;
  /** Those on their way to a claim. */
  admitting(): number;
}

/** Enough to fill the groups in which chain and database are asked. */
const ADMITTED_AT_ONCE = 128;

/** So long after many were late no more are taken than have ended in the time that makes one late: all that were sent away
 *  come again together. */
const CAREFUL_MS = 30_000;

/** Given to abort, which makes an exception with a stack for each call that has none. */
const LET_IN = "let in";

interface UnderWay {
  sinceMs: number;
}
interface Outside {
  readonly one: UnderWay;
  readonly pause: AbortController;
}

export function intake(
  { slug, blockTimeSeconds }: Pick<ChainRow, "slug" | "blockTimeSeconds">,
  { clock, log, settings: { late } }: Pick<Engine, "clock" | "log" | "settings">,
): Intake {
  const { enter, size } = gate(ADMITTED_AT_ONCE);
  const lateMs = Math.max(late.ms, late.blocks * blockTimeSeconds * 1000);
  /** The oldest first. */
  const underWay = new Set<UnderWay>();
  const outside = new Set<Outside>();
  /** When the last ones ended, within the time after which they would be late. */
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
    return areManyLate || (nowMs < carefulUntilMs && underWay.size >= Math.max(late.most, ended.length));
  }

  function begin(one: UnderWay): void {
    one.sinceMs = clock.monotonicMs();
    underWay.add(one);
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
  async function waitOutside(one: UnderWay): Promise<boolean> {
    const waiting = { one, pause: new AbortController() };
    outside.add(waiting);
    letIn();
    await clock.sleep(late.outsideMs, waiting.pause.signal);
    return !outside.delete(waiting);
  }

  return {
    async serve(work) {
      const one = { sinceMs: 0 };
      if (outside.size === 0 && !isFull()) begin(one);
      else if (!(await waitOutside(one))) return null;
      try {
        return await work();
      } finally {
        underWay.delete(one);
        ended.push(clock.monotonicMs());
        letIn();
      }
    },
    admit: enter,
    admitting: size,
  };
}

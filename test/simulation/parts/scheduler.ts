/** Decides who goes on. Whatever the engine awaits of the world outside (a statement, a chain call, a pause) is a call
 *  that lies here until it is picked; between two picks nothing moves. */

/** Whose calls these are: one process, or the world. */
export interface Owner {
  readonly name: string;
  /** What a killed process still had under way never comes back. */
  isAlive: boolean;
  /** A frozen one goes on later, as if no time had passed. */
  isStalled: boolean;
  /** How far its clock is off, ms. */
  readonly skewMs: number;
}

export interface Call {
  readonly owner: Owner;
  readonly label: string;
  readonly asks: "chain" | "database";
  /** Transaction it belongs to. */
  readonly within: object | null;
  /** Answers the caller. False: it waits for a lock, and is answered when that is free. */
  readonly run: () => Promise<boolean>;
}
export interface Sleeper {
  readonly owner: Owner;
  readonly due: number;
  readonly wake: () => void;
}

const roundEnd = setImmediate;
/** What the engine puts off to the end of a round, as callers are grouped: done by whoever waits for quiet. */
const putOff: (() => void)[] = [];

/** From now on rounds end when a scheduler says so, and at no other time: at the event loop's own end of a round, what was
 *  put off would run before or after the database's answer, whichever was faster. */
export function takeOverRounds(): void {
  globalThis.setImmediate = ((work: () => void) => putOff.push(work)) as unknown as typeof setImmediate;
}

function finishRound(): boolean {
  const due = putOff.splice(0);
  for (const work of due) work();
  return due.length > 0;
}

export class Scheduler {
  /** Milliseconds since 1970, everywhere: chain, database and processes (save for their skew). */
  now: number;
  readonly start: number;
  calls: Call[] = [];
  sleepers: Sleeper[] = [];
  /** A transaction that nobody else runs beside. */
  exclusive: object | null = null;
  steps = 0;
  readonly trace: string[] = [];

  constructor(start: number) {
    this.start = start;
    this.now = start;
  }

  /** What the engine awaits; never answered once its process was killed. */
  call<T>(
    owner: Owner,
    label: string,
    effect: () => Promise<T> | T,
    within: object | null = null,
  ): Promise<T> {
    const asks = within === null ? "chain" : "database";
    return this.#enqueue({ owner, label, asks, within }, (resolve, reject) => async () => {
      try {
        resolve(await effect());
      } catch (error) {
        reject(error);
      }
      return true;
    });
  }

  /** The same where the effect may have to wait for a lock: it says when it does. */
  callThatMayWait<T>(
    owner: Owner,
    label: string,
    within: object | null,
    effect: () => Promise<{ readonly done: Promise<T>; readonly isWaiting: boolean }>,
  ): Promise<T> {
    return this.#enqueue({ owner, label, asks: "database", within }, (resolve, reject) => async () => {
      try {
        const { done, isWaiting } = await effect();
        const answered = done.then(resolve, reject);
        if (!isWaiting) await answered;
        return !isWaiting;
      } catch (error) {
        reject(error);
        return true;
      }
    });
  }

  #enqueue<T>(
    call: Omit<Call, "run">,
    runOf: (resolve: (value: T) => void, reject: (error: unknown) => void) => Call["run"],
  ): Promise<T> {
    const { owner } = call;
    return new Promise<T>((resolve, reject) => {
      const unlessKilled =
        <V>(answer: (value: V) => void) =>
        (value: V) => {
          if (owner.isAlive) answer(value);
        };
      if (owner.isAlive)
        this.calls.push({ ...call, run: runOf(unlessKilled(resolve), unlessKilled(reject)) });
    });
  }

  sleep(owner: Owner, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        this.sleepers = this.sleepers.filter((each) => each !== sleeper);
        signal?.removeEventListener("abort", wake);
        if (owner.isAlive) resolve();
      };
      const sleeper = { owner, due: this.now + Math.max(0, ms), wake };
      if (owner.isAlive) this.sleepers.push(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Whose turn it could be. */
  ready(): readonly Call[] {
    const mine = this.calls.filter(({ within }) => within !== null && within === this.exclusive);
    return mine.length > 0 ? mine : this.calls.filter(({ owner }) => !owner.isStalled);
  }

  async take(call: Call): Promise<void> {
    this.calls = this.calls.filter((each) => each !== call);
    this.note(call.owner.name, call.label);
    await call.run();
    await this.quiet();
  }

  /** Wakes one, at its time or later. */
  async wake(sleeper: Sleeper): Promise<void> {
    this.now = Math.max(this.now, sleeper.due);
    this.note(sleeper.owner.name, "wakes");
    sleeper.wake();
    await this.quiet();
  }

  note(who: string, what: string): void {
    this.steps += 1;
    this.trace.push(`${((this.now - this.start) / 1000).toFixed(2)} ${who} ${what}`);
  }

  async quiet(): Promise<void> {
    do await new Promise((resolve) => roundEnd(resolve));
    while (finishRound());
  }

  /** Takes everything of a process away. */
  kill(owner: Owner): void {
    owner.isAlive = false;
    this.calls = this.calls.filter((each) => each.owner !== owner);
    this.sleepers = this.sleepers.filter((each) => each.owner !== owner);
  }
}

/** What is next in a small world: the call that came first, a block where something waits for it, somebody who wakes. */
import type { Transaction } from "../parts/node.ts";
import type { Call, Sleeper } from "../parts/scheduler.ts";
import type { Life } from "../seed.ts";

export type Next =
  | { readonly is: "call"; readonly call: Call }
  | { readonly is: "waking"; readonly sleeper: Sleeper }
  | { readonly is: "block" }
  | { readonly is: "begin"; readonly begin: () => void };

/** Something out of the ordinary that is not over yet. */
interface Lasting {
  readonly steps: number;
  readonly blocks: number;
  readonly end: () => void;
}

export class Course {
  blocks = 0;
  /** The payments come, ahead of all else. */
  begin: (() => void) | null = null;
  readonly #life: Life;
  #steps = 0;
  #woken = 0;
  /** What waited for the last block in vain: loops turn before the next one. */
  #leftOut: ReadonlySet<Transaction> = new Set();
  #lasting: readonly Lasting[] = [];

  constructor(life: Life) {
    this.#life = life;
  }

  next(): Next {
    const { scheduler, tree } = this.#life.ground;
    if (this.begin) return { is: "begin", begin: this.begin };
    const [call] = scheduler.ready();
    if (call) return { is: "call", call };
    const [sleeper] = scheduler.sleepers
      .filter(({ owner }) => !owner.isStalled)
      .toSorted((a, b) => a.due - b.due);
    const waits = tree.waiting.some((each) => !this.#leftOut.has(each));
    const mayWake = sleeper && !waits && this.#woken < WAKES_PER_BLOCK;
    return mayWake ? { is: "waking", sleeper } : { is: "block" };
  }

  async goOn(): Promise<void> {
    const next = this.next();
    this.#steps += 1;
    await this.#take(next);
    await this.#settle();
  }

  async #take(next: Next): Promise<void> {
    const { scheduler } = this.#life.ground;
    if (next.is === "call") return scheduler.take(next.call);
    if (next.is === "block") return this.mine();
    if (next.is === "begin") {
      this.begin = null;
      return next.begin();
    }
    this.#woken += 1;
    await scheduler.wake(next.sleeper);
  }

  /** What is over by now ends, and what follows from that is looked at. */
  async #settle(): Promise<void> {
    const { scheduler } = this.#life.ground;
    await scheduler.quiet();
    const over = this.#lasting.filter(({ steps, blocks }) => steps <= this.#steps && blocks <= this.blocks);
    this.#lasting = this.#lasting.filter((each) => !over.includes(each));
    for (const { end } of over) end();
    await this.#life.check();
  }

  mine(): void {
    this.#woken = 0;
    this.blocks += 1;
    this.#life.ground.scheduler.now += BLOCK_MS;
    this.#life.world.mine(this.#life.processes);
    this.#leftOut = new Set(this.#life.ground.tree.waiting);
  }

  /** It lasts for the step that is next, and until so many blocks came after it. */
  last(blocks: number, end: () => void): void {
    this.#lasting = [...this.#lasting, { steps: this.#steps + 1, blocks: this.blocks + blocks, end }];
  }

  get isOrdinary(): boolean {
    return this.#lasting.length === 0;
  }
}

const BLOCK_MS = 2_000;
/** Every loop has turned twice by then. */
const WAKES_PER_BLOCK = 24;

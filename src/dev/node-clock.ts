/** The local node's clock: what makes it mine. */
import { setTimeout as sleep } from "node:timers/promises";

/** One call of a node's JSON-RPC. */
type Ask = <T>(method: string, params: readonly unknown[]) => Promise<T>;

/** A block that is being mined comes within it, on a busy machine too. */
const STILL_MS = 50;

/** Does `work` while no block comes, then lets the node mine as it did. A reorganisation needs that: the node mines a
 *  block that falls due meanwhile on top of what it is just taking away, and is left with heights without a block, and
 *  a state that lacks what its own blocks moved. A process that is killed in between leaves the node still; the next
 *  start of the local chain sets it going. */
export function nodeClock(ask: Ask): { still<T>(work: () => Promise<T>): Promise<T> } {
  /** The head that was left last time, and since when a block is awaited on it. */
  let awaited = { head: "", since: 0 };

  /** The clock begins anew each time it is set, so that one set often enough would never bring a block. */
  async function mineWhatIsDue(seconds: number): Promise<void> {
    if (performance.now() - awaited.since >= seconds * 1_000) {
      await ask("evm_mine", []);
      awaited.since = performance.now();
    }
    awaited.head = await ask<string>("eth_blockNumber", []);
  }

  return {
    async still(work) {
      const seconds = await ask<number | null>("anvil_getIntervalMining", []);
      const isAutomatic = await ask<boolean>("anvil_getAutomine", []);
      try {
        if (seconds) await ask("evm_setIntervalMining", [0]);
        if (isAutomatic) await ask("evm_setAutomine", [false]);
        const head = await untilNoBlockComes(ask);
        if (head !== awaited.head) awaited = { head, since: performance.now() };
        const done = await work();
        if (seconds) await mineWhatIsDue(seconds);
        return done;
      } finally {
        if (seconds) await ask("evm_setIntervalMining", [seconds]);
        if (isAutomatic) await ask("evm_setAutomine", [true]);
      }
    },
  };
}

async function untilNoBlockComes(ask: Ask): Promise<string> {
  let last = await ask<string>("eth_blockNumber", []);
  for (;;) {
    await sleep(STILL_MS);
    const head = await ask<string>("eth_blockNumber", []);
    if (head === last) return head;
    last = head;
  }
}

import type { Clock } from "#kernel/clock";

/** Keyed writes that run in this process. A twin waits here for the first one, where it holds no database connection:
 *  a caller who repeats a slow request many times must not take them all. */
export interface Writes {
  /** Takes the name; null while somebody has it. The function returned gives it back. */
  enter(name: string): (() => void) | null;
  /** Waits until the name is free; false when it is still taken after `ms`. */
  left(name: string, ms: number): Promise<boolean>;
}

export function createWrites(clock: Clock): Writes {
  const running = new Map<string, Promise<void>>();
  return {
    enter(name) {
      if (running.has(name)) return null;
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      running.set(name, ended);
      return () => {
        running.delete(name);
        end();
      };
    },
    async left(name, ms) {
      const ended = running.get(name);
      if (!ended) return true;
      const waiting = new AbortController();
      const late = clock.sleep(ms, waiting.signal).then(() => false);
      const isFree = await Promise.race([ended.then(() => true), late]);
      waiting.abort();
      return isFree;
    },
  };
}

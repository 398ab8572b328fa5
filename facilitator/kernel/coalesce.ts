interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (reason: unknown) => void;
}

interface Grouping {
  readonly maxInFlight: number;
  readonly maxItems: number;
  /** Resolves when those who are about to call have done so. */
  readonly gathered?: () => Promise<void>;
}

/** Turns many concurrent calls into few grouped ones, without a timer: a group starts at once while fewer than
 *  `maxInFlight` run, or when all have `gathered`; what arrives meanwhile forms the next, of at most `maxItems`. `run`
 *  answers in the order of its items; when it throws, every caller of that group gets the error. */
export function coalesce<I, O>(
  { maxInFlight, maxItems, gathered }: Grouping,
  run: (items: readonly I[]) => Promise<readonly O[]>,
): (item: I) => Promise<O> {
  const queue: Waiting<I, O>[] = [];
  let inFlight = 0;
  let scheduled = false;

  async function runGroup(group: readonly Waiting<I, O>[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, i) => {
        if (i < results.length) resolve(results[i] as O);
        else reject(new Error("a grouped call answered fewer items than it was given"));
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      inFlight -= 1;
      if (gathered) schedule();
      else drain();
    }
  }

  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || queue.length === 0) return;
    // Callers of the same turn of the event loop belong together; without this the first would travel alone.
    scheduled = true;
    if (gathered) void gathered().then(() => setImmediate(drain));
    else setImmediate(drain);
  }

  function drain(): void {
    scheduled = false;
    while (inFlight < maxInFlight && queue.length > 0) {
      inFlight += 1;
      void runGroup(queue.splice(0, maxItems));
    }
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      schedule();
    });
}

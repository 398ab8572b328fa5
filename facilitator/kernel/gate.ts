/** Lets so many through at a time; the others wait in the order in which they came. */
export interface Gate {
  enter<T>(work: () => Promise<T>): Promise<T>;
  /** Inside and waiting. */
  size(): number;
}

/** Of many that come at once the first are then done early, and not all of them late. */
export function gate(atOnce: number): Gate {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return {
    async enter(work) {
      if (inside < atOnce) inside += 1;
      // Whoever leaves hands the place over.
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else inside -= 1;
      }
    },
    size: () => inside + waiting.length,
  };
}

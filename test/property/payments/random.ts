/** A seeded source of choices: the same seed makes the same ones. */
export interface Choices {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  chance(share: number): boolean;
  of<T>(items: readonly T[]): T;
}

export function choices(seed: number): Choices {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (share) => next() < share,
    of(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("a choice of nothing");
      return item;
    },
  };
}

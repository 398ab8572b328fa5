/** A match, in the order of its rank. */
export interface Ranked {
  readonly id: string;
  /** Registrable domain. */
  readonly domain: string;
}

/** How many of one domain may stand in front of the others. */
export const IN_FRONT = 3;

/** The page at `offset` of all matches, when what each domain has beyond its third place goes behind all others.
 *  `ranked` are the first matches by rank; `isAll` tells that there are no more. Null when more of them are needed to
 *  know the page. Pure. Source: agents.md §6.5. */
export function pageOf(
  ranked: readonly Ranked[],
  { offset, limit, isAll }: { readonly offset: number; readonly limit: number; readonly isAll: boolean },
): readonly string[] | null {
  const seen = new Map<string, number>();
  const front: string[] = [];
  const back: string[] = [];
  for (const { id, domain } of ranked) {
    const place = (seen.get(domain) ?? 0) + 1;
    seen.set(domain, place);
    (place <= IN_FRONT ? front : back).push(id);
  }
  // Where a match stands in front is decided by those before it alone.
  if (front.length >= offset + limit) return front.slice(offset, offset + limit);
  return isAll ? [...front, ...back].slice(offset, offset + limit) : null;
}

/** A tally as text: requests per second and statuses by route, and what was found. */
import type { Found, Tally } from "./gun.ts";

export function tallyText({ requests, seconds, routes, found }: Tally): string {
  const rate = (count: number) => (count / seconds).toFixed(1);
  const lines = [...routes].sort().map(([route, { statuses, ms, slowestMs }]) => {
    const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    const told = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
    const pace = `${(ms / all).toFixed(0)} ms, slowest ${slowestMs.toFixed(0)} ms`;
    return `${route}  ${all} (${rate(all)}/s, ${pace})  ${told.join(", ")}`;
  });
  return [
    ...lines,
    `${requests.toLocaleString("en-US")} requests in ${seconds.toFixed(0)} s, ${rate(requests)}/s, ${found.length} faults`,
    ...kinds(found),
  ].join("\n");
}

/** One of each kind, with what it takes to see it again. */
export function kinds(found: readonly Found[]): readonly string[] {
  const byKind = new Map<string, Found[]>();
  for (const each of found) {
    const kind = `${each.route}: ${each.wrong}`;
    byKind.set(kind, [...(byKind.get(kind) ?? []), each]);
  }
  return [...byKind].map(([kind, [first, ...more]]) =>
    first ? `${kind} (${1 + more.length} times)\n  ${first.shot}\n  → ${first.status} ${first.answer}` : kind,
  );
}

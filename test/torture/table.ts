/** The outcome as a table for people. */
import { percentile } from "../../bench/load.ts";
import type { Duplicates } from "./duplicates.ts";
import { type Outcome, steps } from "./torture.ts";

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export function tortureTable(outcome: Outcome): string {
  const { diedAt, latenciesMs, underLoadMs } = outcome;
  const rows: [string, string | number][] = [
    ["kills, at a random instant", diedAt.get("anywhere") ?? 0],
    ...steps.map((step): [string, number] => [`kills, at "${step}"`, diedAt.get(step) ?? 0]),
    ["restarts of PostgreSQL", outcome.restarts],
    ["payments", outcome.payments],
    ["payments a second", (outcome.payments / (underLoadMs / 1_000)).toFixed(1)],
    ["requests", outcome.requests],
    ["settled", outcome.settled],
    ["ended unpaid", outcome.unpaid],
    ["transactions", outcome.transactions],
    ["until told, p50", seconds(percentile(latenciesMs, 0.5))],
    ["until told, p99", seconds(percentile(latenciesMs, 0.99))],
    ["last kill until all were told", seconds(outcome.toldAfterMs)],
    ["last kill until all is final", seconds(outcome.finalAfterMs)],
    ...outcome.books.map((line): [string, string] => ["treasury", line]),
    ...Object.entries(outcome.wrongs).map(([wrong, count]): [string, string] => [
      wrong,
      count === 0 ? "none" : `${count} !`,
    ]),
  ];
  return table(rows);
}

export function duplicatesTable({
  count,
  processes,
  successes,
  refused,
  pending,
  others,
  ...more
}: Duplicates): string {
  return table([
    ["settles of one authorization, at once", count],
    ["processes", processes],
    ["told success", successes],
    ["told 409, with the original transaction", refused],
    ["told pending", pending],
    ...[...others].map(([what, times]): [string, number] => [`told ${what} !`, times]),
    ["transactions", more.transactions],
    ["credits", more.credits],
    ["p50", seconds(percentile(more.latenciesMs, 0.5))],
    ["p99", seconds(percentile(more.latenciesMs, 0.99))],
  ]);
}

function table(rows: readonly (readonly [string, string | number])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

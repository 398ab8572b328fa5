/** What statements read, by PostgreSQL's own account. */
import type pg from "pg";

/** A statement, as a logger of drizzle is told of it. */
export interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The scans of these statements, which are run once more for it. */
async function scansOf(pool: pg.Pool, asked: readonly Asked[]): Promise<readonly Plan[]> {
  if (asked.length === 0) throw new Error("nothing was asked");
  const scans: Plan[] = [];
  for (const { text, values } of asked) {
    const { rows } = await pool.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      [...values],
    );
    for (const { "QUERY PLAN": plans } of rows) scans.push(...nodesOf(plans[0].Plan));
  }
  return scans.filter((node) => node["Node Type"].includes("Scan"));
}

/** How many rows they touch. */
export async function rowsTouched(pool: pg.Pool, asked: readonly Asked[]): Promise<number> {
  const scans = await scansOf(pool, asked);
  return scans.reduce(
    (total, scan) =>
      total + (scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)) * scan["Actual Loops"],
    0,
  );
}

/** Tables that they read from end to end. */
export async function tablesReadThrough(pool: pg.Pool, asked: readonly Asked[]): Promise<readonly string[]> {
  const scans = await scansOf(pool, asked);
  return scans.flatMap((scan) => (scan["Node Type"] === "Seq Scan" ? [scan["Relation Name"] ?? ""] : []));
}

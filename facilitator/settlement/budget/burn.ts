import { sql } from "drizzle-orm";
import type { Engine } from "../engine.ts";
import { FAILED_COUNTS, FAILURES_UNTIL_REST } from "./policy.ts";

/** Whether an hour that began at `since` still lasts. */
export const isThisHour = (since: string) => sql`${sql.raw(since)} > now() - interval '1 hour'`;

/** Wei of the present hour in a row of either table, what failed as often as it counts. */
export const weighed = sql`CASE WHEN ${isThisHour("since")} THEN wei + ${sql.raw(String(FAILED_COUNTS - 1))} * wasted_wei ELSE 0 END`;

/** The same, what failed counted once. */
export const spent = sql`CASE WHEN ${isThisHour("since")} THEN wei ELSE 0 END`;

/** Adds to a count of this hour, or starts the next hour's. */
const added = (column: string) =>
  sql.raw(
    `${column} = excluded.${column} + CASE WHEN known.since > now() - interval '1 hour' THEN known.${column} ELSE 0 END`,
  );
const sinceThen = sql`since = CASE WHEN ${isThisHour("known.since")} THEN known.since ELSE excluded.since END`;

/** Slots become sorted, and what their transactions burned counts against the budgets, each slot once: an item's share,
 *  and whether it was wasted. An item that a stranger's transaction paid wasted our gas, and is no failure of its payer.
 *  Of our own payments only the chain's budget hears. */
export async function bookGas(
  { loopDb, meter }: Pick<Engine, "loopDb" | "meter">,
  chain: string,
  slotIds: readonly string[],
): Promise<void> {
  const { rows } = await loopDb.pool.execute<{ items: string; wei: string | null }>(sql`
    WITH sorted AS (
        UPDATE slot SET sorted = true WHERE id = ANY(${sql.param(slotIds)}) AND NOT sorted
        RETURNING id, chain_id, mined_tx, coalesce(gas_wei, 0) AS gas_wei),
      item AS MATERIALIZED (
        SELECT sorted.chain_id, paid.*, div(sorted.gas_wei, count(*) OVER (PARTITION BY sorted.id)) AS wei
        FROM sorted JOIN slot_item ON slot_item.slot_id = sorted.id
        CROSS JOIN LATERAL (
          SELECT kind, payer, payable_id, merchant_id, by_us IS NULL AS failed, by_us IS NOT TRUE AS wasted
          FROM (SELECT claim.*, (SELECT bool_or(log.tx_hash = sorted.mined_tx) FROM chain_transfer AS log
              WHERE log.authorization_key = claim.claim_key AND log.canonical
                AND log.amount = claim.amount AND log.recipient = claim.pay_to) AS by_us
            FROM claim WHERE claim.claim_key = slot_item.claim_key OFFSET 0) AS carried) AS paid),
      of_payer AS (
        INSERT INTO payer_gas AS known (payer, chain_id, since, wei, wasted_wei, failures, has_paid, rest_until)
        SELECT payer, chain_id, now(), sum(wei), coalesce(sum(wei) FILTER (WHERE wasted), 0),
          count(*) FILTER (WHERE failed), bool_or(NOT failed), ${restAfter(sql`count(*) FILTER (WHERE failed)`)}
        FROM item WHERE kind = 'x402' GROUP BY payer, chain_id ORDER BY payer, chain_id
        ON CONFLICT (payer, chain_id) DO UPDATE SET ${sinceThen}, ${added("wei")}, ${added("wasted_wei")},
          ${added("failures")}, has_paid = known.has_paid OR excluded.has_paid,
          rest_until = CASE WHEN excluded.failures > 0 THEN coalesce(${restAfter(
            sql`excluded.failures + CASE WHEN ${isThisHour("known.since")} THEN known.failures ELSE 0 END`,
          )}, known.rest_until) ELSE known.rest_until END),
      of_others AS (
        INSERT INTO gas_burn AS known (chain_id, kind, subject, since, wei, wasted_wei, items)
        SELECT chain_id, of.kind, of.subject, now(), sum(wei), coalesce(sum(wei) FILTER (WHERE wasted), 0), count(*)
        FROM item CROSS JOIN LATERAL (VALUES ('chain', ''), ('merchant', merchant_id), ('payable', payable_id)) AS of(kind, subject)
        WHERE item.kind = 'x402' OR of.kind = 'chain' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (chain_id, kind, subject) DO UPDATE SET ${sinceThen}, ${added("wei")}, ${added("wasted_wei")}, ${added("items")})
    SELECT count(*) AS items, sum(wei) AS wei FROM item WHERE wasted`);
  const [wasted] = rows;
  if (!wasted || wasted.items === "0") return;
  meter.count("failed_items", { chain }, Number(wasted.items));
  // A float: a metric, not the books.
  meter.count("wasted_gas_wei", { chain }, Number(wasted.wei));
}

function restAfter(failures: ReturnType<typeof sql>) {
  return sql`CASE WHEN ${failures} >= ${sql.raw(String(FAILURES_UNTIL_REST))} THEN now() + interval '1 hour' END`;
}

/** The greatest part of a budget that was burned within the hour, by whose it is; for the metrics. */
export interface BudgetUse {
  readonly chain: string;
  readonly budget: string;
  /** Of 1. */
  readonly share: number;
}

/** How far the budgets of every chain are used up. */
export async function budgetUse({ loopDb, chains }: Engine): Promise<readonly BudgetUse[]> {
  const { rows } = await loopDb.pool.execute<{ chain_id: string; budget: string; wei: string }>(sql`
    SELECT chain_id, kind AS budget, max(${weighed}) AS wei FROM gas_burn GROUP BY 1, 2
    UNION ALL
    SELECT chain_id, CASE WHEN has_paid AND failures = 0 THEN 'payer' ELSE 'newPayer' END, max(${weighed})
    FROM payer_gas WHERE ${isThisHour("since")} GROUP BY 1, 2`);
  return rows.flatMap(({ chain_id, budget, wei }) => {
    const row = chains.get(Number(chain_id))?.chain.row;
    return row
      ? [
          {
            chain: row.slug,
            budget,
            share: Number(wei) / Number(row.gasBudgets[budget as keyof typeof row.gasBudgets]),
          },
        ]
      : [];
  });
}

import { sql } from "drizzle-orm";
import type { Engine } from "./engine.ts";

/** Counts what mined transactions of ours did not pay, and the share of their gas that went into it. Wei are counted as
 *  a float: a metric, not the books. */
export async function noteWaste(
  { loopDb, meter }: Engine,
  chain: string,
  slotIds: readonly string[],
): Promise<void> {
  const { rows } = await loopDb.pool.execute<{ gas_wei: string | null; items: string; failed: string }>(sql`
    SELECT slot.gas_wei, count(*) AS items, count(*) FILTER (WHERE NOT EXISTS (
      SELECT 1 FROM chain_transfer AS log
      WHERE log.authorization_key = item.claim_key AND log.canonical AND log.tx_hash = slot.mined_tx)) AS failed
    FROM slot JOIN slot_item AS item ON item.slot_id = slot.id
    WHERE slot.id = ANY(${sql.param(slotIds)}) GROUP BY slot.id`);
  for (const { gas_wei, items, failed } of rows) {
    if (failed === "0") continue;
    meter.count("failed_items", { chain }, Number(failed));
    meter.count("wasted_gas_wei", { chain }, Number((BigInt(gas_wei ?? 0) * BigInt(failed)) / BigInt(items)));
  }
}

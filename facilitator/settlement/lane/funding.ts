import { sql } from "drizzle-orm";
import { toBytesArray } from "#store";
import type { Chain, Signer } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";
import { lowWater } from "./gas.ts";

/** Reads a lane's coins and notes since when they are too few (settlement.md §9). A lane that is low takes no new
 *  batches; what it has sent is looked after with what is left. Faults: `chain_unavailable`. */
export async function isLowOnGas(
  { loopDb, log }: Engine,
  chain: Chain,
  { address }: Pick<Signer, "address">,
): Promise<boolean> {
  const { chainId, slug } = chain.row;
  const [wei, { baseFeePerGas }] = await Promise.all([chain.nativeBalance(address, "latest"), chain.head()]);
  const isLane = sql`chain_id = ${chainId} AND address = (${toBytesArray([address])})[1]`;
  const { rows: sent } = await loopDb.pool.execute<{ gas: string | null; fee: string | null }>(sql`
    SELECT max(gas_limit) AS gas, max(max_fee) AS fee FROM attempt WHERE slot_id IN (
      SELECT id FROM slot WHERE chain_id = ${chainId} AND signer = (${toBytesArray([address])})[1] ORDER BY nonce DESC LIMIT 20)`);
  const recent = { gasLimit: BigInt(sent[0]?.gas ?? 0), maxFeePerGas: BigInt(sent[0]?.fee ?? 0) };
  const need = lowWater(chain.row, baseFeePerGas, recent);
  const isLow = wei < need;
  const { rows } = await loopDb.pool.execute<{ was_low: boolean }>(sql`
    WITH before AS (SELECT low_since FROM signer WHERE ${isLane} FOR UPDATE)
    UPDATE signer SET gas_wei = ${wei.toString()}::numeric,
      low_since = CASE WHEN ${isLow} THEN coalesce(before.low_since, now()) END
    FROM before WHERE ${isLane} RETURNING before.low_since IS NOT NULL AS was_low`);
  const wasLow = rows[0]?.was_low ?? false;
  const fields = { chain: slug, lane: address, wei: wei.toString(), lowWater: need.toString() };
  if (isLow && !wasLow)
    log.error(fields, "a lane is low on gas: it takes nothing new until its key is funded");
  if (wasLow && !isLow) log.info(fields, "a lane has gas again");
  return isLow;
}

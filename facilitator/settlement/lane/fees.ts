import { sql } from "drizzle-orm";
import type { Executor } from "#store";
import type { Chain } from "../../chain/port.ts";
import { type Fees, feesWithinCap, tipOf } from "./gas.ts";

/** What a new transaction offers now; null above the chain's cap. Fault: `chain_unavailable`. */
export async function presentFees(db: Executor, chain: Chain): Promise<Fees | null> {
  const [estimate, own] = await Promise.all([chain.fees(), lastMinedTip(db, chain.row.chainId)]);
  return feesWithinCap(chain.row, estimate.baseFeePerGas, tipOf(estimate, own));
}

/** Wei per gas of the newest transaction of any lane that was mined; null where none was. */
export async function lastMinedTip(db: Executor, chainId: number): Promise<bigint | null> {
  const { rows } = await db.execute<{ tip: string }>(sql`
    SELECT tip FROM signer CROSS JOIN LATERAL (
      SELECT mined_tx, created_at FROM slot
      WHERE slot.chain_id = signer.chain_id AND slot.signer = signer.address AND mined_tx IS NOT NULL
      ORDER BY nonce DESC LIMIT 1) AS mined
    JOIN attempt ON attempt.tx_hash = mined.mined_tx
    WHERE signer.chain_id = ${chainId} ORDER BY mined.created_at DESC LIMIT 1`);
  return rows[0] ? BigInt(rows[0].tip) : null;
}

import { and, eq } from "drizzle-orm";
import { isId } from "#kernel/id";
import { fixed } from "#store";
import type { Claim } from "../claim/claim.ts";
import { newestTransaction } from "../claim/newest-transaction.ts";
import { isChargeable, statusName } from "../claim/state.ts";
import { claim } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import { requiredDepth } from "../observer/depth.ts";
import { observer } from "../observer/tables.ts";
import { networkOf } from "../settle/answer.ts";
import type { SettlementStatus } from "../verify/request.ts";

/** Where a settlement stands, for anybody who holds its id; null for an id that names none. Chain facts only. */
export async function settlementStatus(engine: Engine, paymentId: string): Promise<SettlementStatus | null> {
  if (!isId("stl", paymentId)) return null;
  const [row] = await engine.db.pool
    .select({ claim, observer })
    .from(claim)
    .leftJoin(observer, eq(observer.chainId, claim.chainId))
    .where(and(eq(claim.id, paymentId), fixed(eq(claim.kind, "x402"))));
  if (!row) return null;
  const settled = row.claim.creditState !== "none";
  return {
    paymentId: row.claim.id,
    status: statusName(row.claim.state, row.claim.creditEpoch > 0),
    success: settled,
    reason: settled ? null : reasonOf(row.claim),
    transaction: await newestTransaction(engine.db.pool, row.claim),
    network: networkOf(engine, row.claim),
    payer: row.claim.payer,
    block: row.claim.includedBlock,
    logIndex: row.claim.includedLog,
    confirmations:
      row.claim.includedBlock === null
        ? 0
        : Math.max((row.observer?.cursorNumber ?? 0) - row.claim.includedBlock + 1, 1),
    required: requiredDepth(engine, row.claim),
    chargeable: isChargeable(row.claim.state),
  };
}

function reasonOf({ state, reason }: Claim): SettlementStatus["reason"] {
  return state === "claimed" || state === "submitting" || state === "review" ? "settlement_pending" : reason;
}

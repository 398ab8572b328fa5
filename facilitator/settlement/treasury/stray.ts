import { and, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import { fixed } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { claim } from "../claim/tables.ts";
import { depositOrder } from "../deposit/tables.ts";
import { chainTransfer } from "../observer/tables.ts";
import { outflowBooking } from "./tables.ts";

type Where = Pick<ChainRow, "chainId" | "treasury">;

/** Of a transfer: no operator has booked it as one that left. What came to an order by it is booked apart. */
export const isUnbooked = sql`NOT EXISTS (SELECT FROM ${outflowBooking}
  WHERE ${outflowBooking.chainId} = ${chainTransfer.chainId} AND ${outflowBooking.blockHash} = ${chainTransfer.blockHash}
    AND ${outflowBooking.logIndex} = ${chainTransfer.logIndex})`;

/** No claim that has not ended has its authorization, and nobody has booked it. */
const isUnexplained = ({ chainId }: Where) =>
  and(
    eq(chainTransfer.chainId, chainId),
    fixed(eq(chainTransfer.canonical, true)),
    isUnbooked,
    sql`NOT EXISTS (SELECT FROM ${claim} WHERE ${claim.claimKey} = ${chainTransfer.authorizationKey}
      AND ${claim.state} NOT IN ('expired', 'cancelled'))`,
  );

/** True of a transfer out of the treasury that nothing of ours explains. */
export function isStray(row: Where): SQL | undefined {
  return and(isUnexplained(row), isNull(chainTransfer.claimedKind), eq(chainTransfer.sender, row.treasury));
}

/** The same out of the treasury or an order's own address, wherever it went: what came into the treasury is booked as
 *  unmatched there, and what reached an order is booked by who asked for it. */
export function isStrayAnywhere(row: Where): SQL | undefined {
  const { sender } = chainTransfer;
  const ownAddresses = sql`(SELECT ${depositOrder.address} FROM ${depositOrder}
    WHERE ${depositOrder.chainId} = ${row.chainId} AND ${isNotNull(depositOrder.addressIndex)})`;
  return and(isUnexplained(row), or(eq(sender, row.treasury), sql`${sender} IN ${ownAddresses}`));
}

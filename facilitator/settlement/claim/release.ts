import { sql } from "drizzle-orm";
import { post } from "#ledger";
import { type Tx, toBytesArray } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { payable } from "../../payable/tables.ts";
import { freeSweeps } from "../deposit/sweep.ts";
import { reservedMoney } from "../treasury/outgoing.ts";
import { released } from "../treasury/reservation.ts";
import type { MovedClaim } from "./claim-parts.ts";
import { isOutgoing } from "./state.ts";

/** What claims that ended unpaid had held is free again: a payable that can be paid once, reserved money,
 *  deposits that were to be swept. */
export async function releaseUnpaid(tx: Tx, row: ChainRow, ended: readonly MovedClaim[]): Promise<void> {
  const holding = ended.filter(({ holdsPayable }) => holdsPayable).map(({ claimKey }) => claimKey);
  if (holding.length > 0) {
    await tx
      .update(payable)
      .set({ heldBy: null })
      .where(sql`${payable.heldBy} = ANY(${toBytesArray(holding)})`);
  }
  await freeSweeps(tx, ended);
  const orders = ended.filter(({ kind }) => isOutgoing(kind)).map(({ payableId }) => payableId);
  await post(tx, [...(await reservedMoney(tx, row, orders)).values()].map(released));
}

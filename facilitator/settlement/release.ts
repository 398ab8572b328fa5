import { sql } from "drizzle-orm";
import { post, templates } from "#ledger";
import { type Tx, toBytesArray } from "#store";
import type { ChainRow } from "../chain/registry.ts";
import { payable } from "../payable/tables.ts";
import type { MovedClaim } from "./claim-parts.ts";
import { assetOf } from "./coin.ts";

/** What claims that ended unpaid had held is free again: a payable that can be paid once, a payout's reserved money. */
export async function releaseUnpaid(tx: Tx, row: ChainRow, ended: readonly MovedClaim[]): Promise<void> {
  const holding = ended.filter(({ holdsPayable }) => holdsPayable).map(({ claimKey }) => claimKey);
  if (holding.length > 0) {
    await tx
      .update(payable)
      .set({ heldBy: null })
      .where(sql`${payable.heldBy} = ANY(${toBytesArray(holding)})`);
  }
  await post(
    tx,
    ended
      .filter(({ kind }) => kind === "payout")
      .map(({ payableId, merchantId, token, amount }) =>
        templates.payoutReleased({ payoutId: payableId, merchantId, asset: assetOf(row, token), amount }),
      ),
  );
}

import { fault } from "#kernel/fault";
import { isUniqueViolation, type Tx } from "#store";
import type { Payable } from "./payable.ts";
import { toRow } from "./row.ts";
import { payable } from "./tables.ts";

/** Creates or replaces what is for sale, in the merchant feature's transaction. Who holds a once-payable is left as
 *  it is. Fault: `url_registered_elsewhere` when another open payable has the URL; the unique index decides, so two
 *  merchants that race for one URL never both win. */
export async function projectPayable(tx: Tx, item: Payable): Promise<void> {
  const { id, createdAt, ...changing } = toRow(item);
  try {
    await tx
      .insert(payable)
      .values({ id, createdAt, ...changing })
      .onConflictDoUpdate({ target: payable.id, set: changing });
  } catch (error) {
    if (isUniqueViolation(error, "payable_open_url"))
      throw fault("url_registered_elsewhere", { url: item.url }, error);
    throw error;
  }
}

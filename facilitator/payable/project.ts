import { getTableColumns, sql } from "drizzle-orm";
import { fault } from "#kernel/fault";
import { cleanText, cutText } from "#kernel/text";
import { insertMany, isUniqueViolation, type Tx } from "#store";
import { indexPayable } from "./listing.ts";
import type { Payable } from "./payable.ts";
import { toRow } from "./row.ts";
import { payable } from "./tables.ts";

/** Longest texts that are kept. Source: agents.md §8. */
const LONGEST = { title: 80, name: 140, description: 500, number: 64 };

/** Creates or replaces what is for sale, in the merchant feature's transaction. Merchant text is cleaned here, whoever
 *  brings it, because agents read it. Who holds a once-payable is left as it is. Fault: `url_registered_elsewhere` when
 *  another open payable has the URL; the unique index decides, so two merchants that race for one URL never both win. */
export async function projectPayable(tx: Tx, item: Payable): Promise<void> {
  const plain = cleaned(item);
  await indexPayable(tx, plain, await upsert(tx, plain));
}

/** What a projection leaves as it is: who holds it is the engine's to say. */
const kept = new Set(["id", "createdAt", "heldBy", "heldFor"]);
const changed = sql.raw(
  Object.entries(getTableColumns(payable))
    .filter(([key]) => !kept.has(key))
    .map(([, { name }]) => `"${name}" = excluded."${name}"`)
    .join(", "),
);

/** Whether the row is new. */
async function upsert(tx: Tx, item: Payable): Promise<boolean> {
  try {
    // xmax is 0 on a row version that no other replaced: the insert won.
    const { rows } = await tx.execute<{ isNew: boolean }>(sql`
      ${insertMany(payable, [toRow(item)])}
      ON CONFLICT (id) DO UPDATE SET ${changed} RETURNING (xmax = 0) AS "isNew"`);
    return rows[0]?.isNew === true;
  } catch (error) {
    if (isUniqueViolation(error, "payable_open_url"))
      throw fault("url_registered_elsewhere", { url: item.url }, error);
    throw error;
  }
}

function cleaned(item: Payable): Payable {
  const plain = (text: string, limit: number) => cutText(cleanText(text), limit);
  const { title, serviceName, number = null } = item;
  return {
    ...item,
    title: title === null ? null : plain(title, LONGEST.title),
    serviceName: (serviceName && cleanText(serviceName)) || null,
    tags: item.tags.map(cleanText).filter((tag) => tag !== ""),
    merchantName: plain(item.merchantName, LONGEST.name),
    description: plain(item.description, LONGEST.description),
    number: number === null ? null : plain(number, LONGEST.number),
  };
}

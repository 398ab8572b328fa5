import { sql } from "drizzle-orm";
import { fault } from "#kernel/fault";
import { cleanText, cutText } from "#kernel/text";
import { isUniqueViolation, type Tx } from "#store";
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

/** Whether the row is new. */
async function upsert(tx: Tx, item: Payable): Promise<boolean> {
  const { id, createdAt, ...changing } = toRow(item);
  try {
    const [row] = await tx
      .insert(payable)
      .values({ id, createdAt, ...changing })
      .onConflictDoUpdate({ target: payable.id, set: changing })
      // xmax is 0 on a row version that no other replaced: the insert won.
      .returning({ isNew: sql<boolean>`(xmax = 0)` });
    return row?.isNew === true;
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

import { z } from "zod";
import type { PayableKind } from "#facilitator";
import { badCursor, cursorAt, readCursor } from "../cursor.ts";
import { nothingFound } from "../nothing-found.ts";
import { presentPayable } from "../present.ts";
import { success } from "../result.ts";
import { Amount, Cursor, Limit, MerchantText, Next, Words } from "../schema.ts";
import { defineTool } from "../tool.ts";

const kinds = ["payment-link", "invoice"] as const;
const TEXT_IN_LISTS = 120;

export const searchPayables = defineTool({
  name: "search_payables",
  title: "Search invoices and payment links",
  description:
    "Find invoices and payment links that their merchants listed. Use it for bills and donations; for APIs that sell " +
    "answers use search_resources. An unlisted one stays payable by its id or URL with get_payable. Intents are never " +
    'listed. Ten items a page. Example: {"kind":"invoice","currency":"USD"}. Then call get_payable with an item\'s id.',
  input: z.strictObject({
    query: Words.optional().describe("Words, all of which must occur"),
    kind: z.enum(kinds).optional(),
    currency: z.string().max(16).optional().describe("What it is priced in, such as USD"),
    limit: Limit,
    cursor: Cursor.optional(),
  }),
  output: z.looseObject({
    items: z.array(
      z.looseObject({
        id: z.string(),
        kind: z.string(),
        amount: Amount,
        resource: z.string(),
        merchantText: MerchantText,
      }),
    ),
    total: z.int(),
    nextCursor: z.string().optional(),
    next: Next,
  }),
  effect: "reads",
  rate: "discovery",
  async run({ facilitator }, { limit, cursor, ...filter }) {
    const offset = readCursor(cursor, filter);
    if (offset === null) return badCursor;
    const { query, kind, currency } = filter;
    const words = query?.trim();
    const wanted: readonly PayableKind[] = kind === undefined ? kinds : [kind];
    const { items, total } = await facilitator.discover({
      kinds: wanted,
      ...(words ? { query: words } : {}),
      ...(currency === undefined ? {} : { currency }),
      limit,
      offset,
    });
    const end = offset + items.length;
    return success({
      items: items.map((item) => presentPayable(item, TEXT_IN_LISTS)),
      total,
      nextCursor: items.length > 0 && end < total ? cursorAt(end, filter) : undefined,
      next:
        items.length > 0
          ? {
              action: "sign",
              text: "Choose an item and get what to sign from get_payable with its id.",
              tool: "get_payable",
            }
          : nothingFound("search_payables", { ...filter, query: words }),
    });
  },
});

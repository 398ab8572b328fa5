import { z } from "zod";
import type { Discovered } from "#facilitator";
import { priceDecimals } from "#kernel/asset";
import { parseDecimal } from "#kernel/money";
import { badCursor, cursorAt, readCursor } from "../cursor.ts";
import type { Members, PaymentWire } from "../deps.ts";
import { nothingFound } from "../nothing-found.ts";
import {
  clientNotes,
  inputSchema,
  isTool,
  merchantText,
  methodOf,
  networksOf,
  priceOf,
  requiredOf,
  trustOf,
} from "../present.ts";
import { failure, type Next as NextStep, success } from "../result.ts";
import { Amount, Cursor, Limit, MerchantText, Next, ShortText, Words } from "../schema.ts";
import { defineTool } from "../tool.ts";

/** Sellers' words in a list are cut shorter than where one item is shown. */
const TEXT_IN_LISTS = 120;

const Input = z.strictObject({
  query: Words.optional().describe("Words, all of which must occur"),
  type: z.enum(["http", "mcp"]).optional(),
  network: ShortText.optional().describe("CAIP-2, such as eip155:8453"),
  asset: ShortText.optional().describe("Symbol or token contract"),
  maxUsdPrice: z.string().max(40).optional().describe("Decimal dollars, such as 0.05"),
  payTo: ShortText.optional(),
  limit: Limit,
  cursor: Cursor.optional(),
  detail: z.enum(["concise", "full"]).default("concise"),
});

export const searchResources = defineTool({
  name: "search_resources",
  title: "Search paid resources",
  description:
    "Find HTTP resources and MCP tools that agents can pay for with x402, by words and price. Use it before you know what to call; " +
    "for invoices and payment links use search_payables. Prices are indicative; the 402 binds. Ten items a page, " +
    'detail "full" adds what to sign and the input schema. Example: {"query":"weather","maxUsdPrice":"0.05"}. Then ' +
    "call get_payment_required with an item's id.",
  input: Input,
  output: z.looseObject({
    items: z.array(
      z.looseObject({
        id: z.string(),
        url: z.string(),
        price: Amount,
        networks: z.array(z.string()),
        trust: z.looseObject({}),
        merchantText: MerchantText,
      }),
    ),
    total: z.int(),
    nextCursor: z.string().optional(),
    next: Next,
  }),
  effect: "reads",
  rate: "discovery",
  async run({ facilitator, wire }, { limit, cursor, detail, type, ...filter }) {
    const about = { ...filter, type };
    const offset = readCursor(cursor, about);
    if (offset === null) return badCursor;
    const maxUsdPrice = dollars(filter.maxUsdPrice);
    if (maxUsdPrice === null)
      return failure(
        "invalid_arguments",
        "maxUsdPrice is not a decimal such as 0.05. Correct it and call again.",
      );
    const query = { ...present(filter), type, ...(maxUsdPrice === undefined ? {} : { maxUsdPrice }) };
    const { items, total } = await facilitator.discover({ kinds: ["resource"], ...query, limit, offset });
    const end = offset + items.length;
    return success({
      items: items.map((item) => (detail === "full" ? fullItem(wire, item) : conciseItem(wire, item))),
      total,
      nextCursor: items.length > 0 && end < total ? cursorAt(end, about) : undefined,
      next:
        items.length > 0 ? pick : nothingFound("search_resources", { ...about, query: filter.query?.trim() }),
    });
  },
});

const pick: NextStep = {
  action: "sign",
  text: "Choose an item and get what to sign from get_payment_required with its id.",
  tool: "get_payment_required",
};

function dollars(text: string | undefined): bigint | null | undefined {
  if (text === undefined) return undefined;
  const amount = parseDecimal(text, priceDecimals.USD ?? 0);
  return typeof amount === "bigint" ? amount : null;
}

function present({
  query,
  network,
  asset,
  payTo,
}: Pick<z.infer<typeof Input>, "query" | "network" | "asset" | "payTo">) {
  const words = query?.trim() || undefined;
  const given = Object.entries({ query: words, network, asset, payTo });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function conciseItem(wire: PaymentWire, item: Discovered): Members {
  const { payable } = item;
  const method = methodOf(payable.extensions);
  const notes = clientNotes(wire, item, item.trust);
  return {
    id: payable.id,
    url: payable.url,
    ...(isTool(payable) ? { type: "mcp" } : {}),
    ...(method === null ? {} : { method }),
    price: priceOf(payable),
    networks: networksOf(item),
    trust: trustOf(payable, item.trust),
    ...(notes.length === 0 ? {} : { clientNotes: notes }),
    merchantText: merchantText(payable, TEXT_IN_LISTS),
  };
}

function fullItem(wire: PaymentWire, item: Discovered): Members {
  return {
    ...conciseItem(wire, item),
    accepts: requiredOf(wire, item).accepts,
    lastUpdated: item.payable.updatedAt.toISOString(),
    merchantText: { ...merchantText(item.payable), inputSchema: inputSchema(item.payable) },
  };
}

import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { etag } from "hono/etag";
import { clientNotes, type Discovered, type Facilitator, type PayableKind } from "#facilitator";
import { limitByAddress } from "../http/limit.ts";
import { Money, presentPrice } from "../http/money.ts";
import { json, problems } from "../http/route.ts";
import { DiscoveryQuery, pageOf, readFilter, readPlace } from "./discovery.ts";
import { presentOption, presentRail } from "./present.ts";
import { PaymentRequirements, Rail } from "./schema.ts";

/** What may stand in the index; an intent is payable but never listed. */
const kinds = ["payment-link", "invoice"] as const;

const PayableQuery = DiscoveryQuery.extend({
  kind: z.enum(kinds).optional(),
  currency: z.string().max(16).optional(),
});

/** An entry of `GET /x402/payables`. Nothing of a buyer stands here, nor an invoice's notes or metadata. */
const PayableItem = z
  .object({
    resource: z.string().openapi({ description: "The agent URL: it answers 402 and takes the payment" }),
    type: z.literal("http"),
    x402Version: z.literal(2),
    accepts: z.array(PaymentRequirements),
    lastUpdated: z.string(),
    description: z.string(),
    mimeType: z.string(),
    id: z.string(),
    kind: z.enum(kinds),
    title: z.string().nullable(),
    merchant: z.object({ id: z.string(), name: z.string() }),
    amount: Money,
    currency: z.string(),
    url: z.string().nullable().openapi({ description: "The page for people" }),
    number: z.string().optional(),
    dueAt: z.string().optional(),
    expiresAt: z.string().optional(),
    rails: z.array(Rail),
    clientNotes: z.array(z.string()).openapi({ description: "What to know before signing, in our words" }),
  })
  .openapi("PayableItem");
type PayableItem = z.infer<typeof PayableItem>;

const PayableList = z
  .object({
    x402Version: z.literal(2),
    items: z.array(PayableItem),
    payables: z.array(PayableItem),
    pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int(), cursor: z.string().nullable() }),
  })
  .openapi("PayableList");

/** The index of what merchants listed of their links and invoices. Source: agents.md §6.1, §6.2. */
export function payableIndex({ facilitator }: { readonly facilitator: Pick<Facilitator, "discover"> }) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/x402/payables",
      tags: ["x402"],
      security: [],
      middleware: [limitByAddress("discovery"), etag()],
      summary: "Listed links and invoices",
      request: { query: PayableQuery },
      responses: { 200: json(PayableList, "A page of what is listed"), ...problems("invalid_cursor") },
    }),
    handler: async (c) => {
      const query = c.req.valid("query");
      const { kind, currency } = query;
      const place = readPlace(query);
      const wanted: readonly PayableKind[] = kind === undefined ? kinds : [kind];
      const found =
        (query.type ?? "http") === "http"
          ? await facilitator.discover({
              ...readFilter(query),
              ...(currency === undefined ? {} : { currency }),
              kinds: wanted,
              ...place,
            })
          : { items: [], total: 0 };
      const items = found.items.map(presentPayable);
      c.header("Cache-Control", "public, max-age=30");
      return c.json(
        { x402Version: 2 as const, items, payables: items, pagination: pageOf(place, found) },
        200,
      );
    },
  });
}

function presentPayable({ payable, options, trust }: Discovered): PayableItem {
  const { number, dueAt, expiresAt } = payable;
  return {
    resource: payable.url,
    type: "http",
    x402Version: 2,
    accepts: options.map((option) => presentOption(option, payable)),
    lastUpdated: payable.updatedAt.toISOString(),
    description: payable.description,
    mimeType: payable.mimeType,
    id: payable.id,
    kind: payable.kind === "invoice" ? "invoice" : "payment-link",
    title: payable.title,
    merchant: { id: payable.merchantId, name: payable.merchantName },
    amount: presentPrice(payable.price),
    currency: payable.price.asset,
    url: payable.pageUrl ?? null,
    ...(number ? { number } : {}),
    ...(dueAt ? { dueAt: dueAt.toISOString() } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
    rails: options.map(presentRail),
    clientNotes: clientNotes(options, trust),
  };
}

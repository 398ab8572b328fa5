import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { preferredType } from "../http/accept.ts";
import { keyed } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import { entriesCsv, presentEntry } from "./present.ts";
import {
  Balance,
  ById,
  EntryQuery,
  LedgerAccount,
  LedgerEntry,
  Payout,
  PayoutAddress,
  PayoutAddressInput,
  PayoutInput,
} from "./schema.ts";
import {
  addAddress,
  cancelPayout,
  createPayout,
  listAddresses,
  listPayouts,
  readAccounts,
  readBalances,
  readEntries,
  readPayout,
  removeAddress,
  type Till,
} from "./verbs.ts";

const ENTRY_TYPES = ["application/json", "text/csv"] as const;
const books = { tags: ["balances and ledger"], ...secretKey({ permission: "ledger:read" }) };
const payouts = { tags: ["payouts"], ...secretKey({ permission: "payouts:write" }) };

/** What a merchant holds, its side of the books, and money out to it. */
export function payoutRoutes(till: Till) {
  return [...bookRoutes(), ...addressRoutes(till), ...transferRoutes(till)] as const;
}

function bookRoutes() {
  const balances = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/balances",
      summary: "What the merchant holds",
      ...books,
      responses: { 200: json(z.array(Balance), "By asset and chain"), ...problems(...secretKeyFaults) },
    }),
    handler: async (c) => c.json(await readBalances({ ctx: c.var.merchant, input: {} }), 200),
  });
  const accounts = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/ledger/accounts",
      summary: "The merchant's accounts",
      ...books,
      responses: {
        200: json(z.array(LedgerAccount), "With their balances"),
        ...problems(...secretKeyFaults),
      },
    }),
    handler: async (c) => c.json(await readAccounts({ ctx: c.var.merchant, input: {} }), 200),
  });
  const entries = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/ledger/entries",
      summary: "The merchant's side of the books; CSV by Accept: text/csv",
      tags: books.tags,
      ...secretKey({ permission: "ledger:read", produces: ENTRY_TYPES }),
      request: { query: PageQuery.extend(EntryQuery.shape) },
      responses: {
        200: {
          description: "Entries, newest first",
          content: {
            "application/json": { schema: z.array(LedgerEntry) },
            "text/csv": { schema: z.string() },
          },
        },
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { subject, from, to, ...paging } = c.req.valid("query");
      const filter = { subject, from, to };
      const page = readPage(c, paging, filter);
      const found = await readEntries({
        ctx: c.var.merchant,
        input: {
          limit: page.limit + 1,
          after: page.after,
          subject,
          from: from ? new Date(from) : undefined,
          to: to ? new Date(to) : undefined,
        },
      });
      const shown = pageOf(c, page, found, filter);
      c.header("Vary", "Accept", { append: true });
      if (preferredType(c.req.header("accept"), ENTRY_TYPES) === "text/csv")
        return c.text(entriesCsv(shown), 200, { "Content-Type": "text/csv; charset=utf-8" });
      return c.json(shown.map(presentEntry), 200);
    },
  });
  return [balances, accounts, entries] as const;
}

function addressRoutes(till: Till) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payout-addresses",
      summary: "The address book",
      ...payouts,
      responses: { 200: json(z.array(PayoutAddress), "Newest first"), ...problems(...secretKeyFaults) },
    }),
    handler: async (c) => c.json([...(await listAddresses({ ctx: c.var.merchant, input: {} }))], 200),
  });
  const add = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payout-addresses",
      summary: "Add an address that may be paid",
      ...payouts,
      request: { body: body(PayoutAddressInput) },
      responses: {
        201: json(PayoutAddress, "The address"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          "rail_unsupported",
          "recipient_is_ours",
          "payout_address_limit",
        ),
      },
    }),
    handler: async (c) =>
      c.json(await addAddress(till, { ctx: c.var.merchant, input: c.req.valid("json") }), 201),
  });
  const remove = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "delete",
      path: "/v1/payout-addresses/{id}",
      summary: "Take an address out of the book",
      ...payouts,
      request: { params: ById },
      responses: { 204: { description: "Removed" }, ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => {
      await removeAddress({ ctx: c.var.merchant, input: c.req.valid("param") });
      return c.body(null, 204);
    },
  });
  return [list, add, remove] as const;
}

function transferRoutes(till: Till) {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payouts",
      summary: "Pay the merchant out",
      ...payouts,
      request: { headers: RequiredIdempotencyHeader, body: body(PayoutInput) },
      responses: {
        201: json(Payout, "The payout, its money reserved"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "insufficient_balance",
          "payout_address_unknown",
          "recipient_is_ours",
          "payout_address_cooling",
          "rail_unsupported",
          "amount_too_small",
          "too_many_decimals",
          "currency_unsupported",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      return keyed(c, { input, isRequired: true }, async (ctx) => {
        const made = await createPayout(till, { ctx, input });
        return {
          status: 201,
          body: made,
          headers: { Location: `/v1/payouts/${made.id}` },
          resourceId: made.id,
        };
      });
    },
  });
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payouts",
      summary: "List payouts",
      ...payouts,
      request: { query: PageQuery },
      responses: {
        200: json(z.array(Payout), "Newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const page = readPage(c, c.req.valid("query"), {});
      return c.json(
        [...pageOf(c, page, await listPayouts(till, { ctx: c.var.merchant, input: page }), {})],
        200,
      );
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payouts/{id}",
      summary: "Read a payout",
      ...payouts,
      request: { params: ById },
      responses: { 200: json(Payout, "The payout"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readPayout(till, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  const cancel = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payouts/{id}/cancel",
      summary: "Take back a payout that has not been signed",
      ...payouts,
      request: { headers: RequiredIdempotencyHeader, params: ById },
      responses: {
        200: json(Payout, "The payout, now cancelled"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "payout_not_cancellable",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await cancelPayout(till, { ctx, input }),
      }));
    },
  });
  return [create, list, read, cancel] as const;
}

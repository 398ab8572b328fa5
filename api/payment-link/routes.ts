import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { assert } from "#kernel/fault";
import { keyed, keyedAfter, keyedAt } from "../http/idempotency.ts";
import { clientAddress } from "../http/limit.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  json,
  keyless,
  keylessFaults,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import { PaymentIntent } from "../payment-intent/schema.ts";
import {
  LinkCheckoutInput,
  LinkRail,
  LinkRailQuery,
  PaymentLink,
  PaymentLinkChange,
  PaymentLinkFilter,
  PaymentLinkInput,
  PaymentLinkPath,
} from "./schema.ts";
import { changeLink, setDisabled, setListed } from "./verbs/change.ts";
import { type CheckoutDesk, checkOutLink, checkVisit, type Visit } from "./verbs/checkout.ts";
import { checkLink, createLink } from "./verbs/create.ts";
import { listLinkRails } from "./verbs/rails.ts";
import { listLinks, readLink } from "./verbs/read.ts";

const tags = ["payment links"];
const reading = { tags, ...secretKey({ permission: "links:read" }) };
const writing = { tags, ...secretKey({ permission: "links:manage" }) };
const payer = { tags, ...keyless({ limit: "checkout" }) };

/** Links: made and kept by their merchant, paid by whoever holds their URL. */
export function paymentLinkRoutes(desk: CheckoutDesk) {
  return [...writes(desk), ...reads(desk), ...switches(desk), ...payerRoutes(desk)] as const;
}

function writes(desk: CheckoutDesk) {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payment-links",
      summary: "Make a payment link",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, body: body(PaymentLinkInput) },
      responses: {
        201: json(PaymentLink, "The link; it is not listed"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "merchant_mismatch",
          "too_many_decimals",
          "currency_unsupported",
          "amount_too_small",
          "amount_too_large",
          "rail_unsupported",
          "product_not_found",
          "product_inactive",
          "price_missing",
          "return_url_not_allowed",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      const beforehand = () => checkLink(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, terms) => {
        const made = await createLink(desk, { ctx, input, terms });
        const headers = { Location: `/v1/payment-links/${made.id}` };
        return { status: 201, body: made, headers, resourceId: made.id };
      });
    },
  });
  const change = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "patch",
      path: "/v1/payment-links/{id}",
      summary: "Change a payment link, save what it asks for",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: PaymentLinkPath, body: body(PaymentLinkChange) },
      responses: {
        200: json(PaymentLink, "The link"),
        ...problems(...secretKeyFaults, ...bodyFaults, ...requiredKeyFaults, "not_found", "version_conflict"),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("json"), ...c.req.valid("param") };
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await changeLink(desk, { ctx, input }),
      }));
    },
  });
  return [create, change] as const;
}

function reads(desk: CheckoutDesk) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payment-links",
      summary: "List the merchant's payment links",
      ...reading,
      request: { query: PageQuery.extend(PaymentLinkFilter.shape) },
      responses: {
        200: json(z.array(PaymentLink), "Newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listLinks(desk, { ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payment-links/{id}",
      summary: "Read a payment link",
      ...reading,
      request: { params: PaymentLinkPath },
      responses: { 200: json(PaymentLink, "The link"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readLink(desk, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  return [list, read] as const;
}

/** What has no body, and done twice changes nothing. */
function switches(desk: CheckoutDesk) {
  const switching = <Path extends string>(path: Path, summary: string) => ({
    ...{ method: "post" as const, path, summary },
    ...writing,
    request: { params: PaymentLinkPath },
    responses: {
      200: json(PaymentLink, "The link"),
      ...problems(...secretKeyFaults, ...bodyFaults, "not_found"),
    },
  });
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute(
      switching("/v1/payment-links/{id}/list", "Show a link to discovery readers while it is payable"),
    ),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), listed: true };
      return c.json(await setListed(desk, { ctx: c.var.merchant, input }), 200);
    },
  });
  const unlist = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute(
      switching("/v1/payment-links/{id}/unlist", "Hide a link; who holds its URL can pay it all the same"),
    ),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), listed: false };
      return c.json(await setListed(desk, { ctx: c.var.merchant, input }), 200);
    },
  });
  const disable = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute(switching("/v1/payment-links/{id}/disable", "End payments of a link")),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), disabled: true };
      return c.json(await setDisabled(desk, { ctx: c.var.merchant, input }), 200);
    },
  });
  const enable = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute(switching("/v1/payment-links/{id}/enable", "Take payments of a link again")),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), disabled: false };
      return c.json(await setDisabled(desk, { ctx: c.var.merchant, input }), 200);
    },
  });
  return [list, unlist, disable, enable] as const;
}

/** For whoever holds the link's id. */
function payerRoutes(desk: CheckoutDesk) {
  const rails = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payment-links/{id}/rails",
      summary: "The ways to pay a link, and what it costs on each",
      ...payer,
      request: { params: PaymentLinkPath, query: LinkRailQuery },
      responses: {
        200: json(z.array(LinkRail), "Indicative; one without a price now is not available"),
        ...problems(
          ...keylessFaults,
          "not_found",
          "too_many_decimals",
          "amount_too_small",
          "amount_too_large",
        ),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("query") };
      return c.json([...(await listLinkRails(desk, { now: c.var.ctx.now(), input }))], 200);
    },
  });
  const checkout = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payment-links/{id}/checkout",
      summary: "Make the payment intent of a payer",
      description:
        "Keyless: whoever holds the link's id is its payer. The Idempotency-Key is the link's. The intent has one of the " +
        "link's places, where they are numbered, for as long as it can be paid.",
      ...payer,
      request: {
        headers: RequiredIdempotencyHeader,
        params: PaymentLinkPath,
        body: { ...body(LinkCheckoutInput), required: false },
      },
      responses: {
        201: json(PaymentIntent, "The intent"),
        ...problems(
          ...keylessFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "link_not_payable",
          "too_many_decimals",
          "amount_too_small",
          "amount_too_large",
          "merchant_suspended",
          "rail_unsupported",
          "return_url_not_allowed",
        ),
      },
    }),
    handler: (c) => {
      const { id } = c.req.valid("param");
      const input = c.req.valid("json");
      const visit = visitOf(c, { id, input });
      const beforehand = () => checkVisit(desk, visit);
      return keyedAt(c, { input, isRequired: true, holder: id, beforehand }, async (ctx, found, write) => {
        assert(write, "a checkout has a key");
        const { intent, isRepeated } = await ctx.tx((tx) => checkOutLink(desk, tx, visit, { found, write }));
        const replayed = isRepeated ? { "Idempotent-Replayed": "true" } : {};
        const headers = { Location: `/v1/payment-intents/${intent.id}`, ...replayed };
        return { status: 201, body: intent, headers, resourceId: intent.id };
      });
    },
  });
  return [rails, checkout] as const;
}

function visitOf(c: Context, asked: Pick<Visit, "id" | "input">): Visit {
  const { ctx, edge } = c.var;
  return { ...asked, ctx: { ...ctx, newId: edge.newId }, address: clientAddress(c, edge) };
}

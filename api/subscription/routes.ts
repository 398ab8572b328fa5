import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { keyed, keyedAfter } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  IdempotencyHeader,
  idempotencyFaults,
  json,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import type { InvoiceDesk } from "../invoice/verbs/desk.ts";
import {
  CancelInput,
  PauseInput,
  Subscription,
  SubscriptionChange,
  SubscriptionFilter,
  SubscriptionInput,
  SubscriptionPath,
  SubscriptionRead,
  Subscriptions,
} from "./schema.ts";
import { cancelSubscription, editSubscription } from "./verbs/change.ts";
import { checkCycle, createSubscription } from "./verbs/create.ts";
import { pauseSubscription, resumeSubscription } from "./verbs/pause.ts";
import { listSubscriptions, readSubscription } from "./verbs/read.ts";

const tags = ["subscriptions"];
const reading = { tags, ...secretKey({ permission: "catalog:read" }) };
const writing = { tags, ...secretKey({ permission: "catalog:manage" }) };
const writeFaults = [...secretKeyFaults, ...bodyFaults, ...idempotencyFaults] as const;
const amountFaults = [
  "currency_unsupported",
  "too_many_decimals",
  "amount_too_small",
  "amount_too_large",
] as const;

/** Bills that repeat. */
export function subscriptionRoutes(desk: InvoiceDesk) {
  return [
    createOf(desk),
    listOf(),
    readOf(desk),
    editOf(desk),
    pauseOf(desk),
    resumeOf(desk),
    cancelOf(desk),
  ] as const;
}

function createOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/subscriptions",
      summary: "Bill a customer again and again",
      ...writing,
      request: { headers: IdempotencyHeader, body: body(SubscriptionInput) },
      responses: {
        201: json(Subscription, "The subscription; its first cycle is issued where that has begun"),
        ...problems(...writeFaults, ...amountFaults, "anchor_invalid"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      const beforehand = () => checkCycle(desk, input.amount);
      return keyedAfter(c, { input, isRequired: false, beforehand }, async (ctx, money) => {
        const made = await createSubscription(desk, { ctx, input, money });
        const headers = { Location: `/v1/subscriptions/${made.id}` };
        return { status: 201, body: made, headers, resourceId: made.id };
      });
    },
  });
}

function listOf() {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/subscriptions",
      summary: "List subscriptions",
      ...reading,
      request: { query: PageQuery.extend(SubscriptionFilter.shape) },
      responses: {
        200: json(Subscriptions, "The subscriptions, newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listSubscriptions({ ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
}

function readOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/subscriptions/{id}",
      summary: "Read a subscription and its cycles",
      ...reading,
      request: { params: SubscriptionPath },
      responses: {
        200: json(SubscriptionRead, "The subscription, and its cycles as invoices"),
        ...problems(...secretKeyFaults, "not_found"),
      },
    }),
    handler: async (c) =>
      c.json(await readSubscription(desk, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
}

function editOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "patch",
      path: "/v1/subscriptions/{id}",
      summary: "Change what the next cycle asks for",
      description: "Nothing is prorated: what was issued stays as it is.",
      ...writing,
      request: {
        headers: RequiredIdempotencyHeader,
        params: SubscriptionPath,
        body: body(SubscriptionChange),
      },
      responses: {
        200: json(Subscription, "The subscription as it is now"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          ...amountFaults,
          "not_found",
          "version_conflict",
          "subscription_cancelled",
          "subscription_behind",
        ),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      const beforehand = async () => (input.amount ? checkCycle(desk, input.amount) : null);
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, money) => ({
        status: 200,
        body: await editSubscription(desk, { ctx, input, money }),
      }));
    },
  });
}

function pauseOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/subscriptions/{id}/pause",
      summary: "Issue no more until it is resumed",
      ...writing,
      request: {
        headers: IdempotencyHeader,
        params: SubscriptionPath,
        body: { ...body(PauseInput), required: false },
      },
      responses: {
        200: json(Subscription, "The subscription, now paused"),
        ...problems(...writeFaults, "not_found", "subscription_cancelled"),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await pauseSubscription(desk, { ctx, input }),
      }));
    },
  });
}

function resumeOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/subscriptions/{id}/resume",
      summary: "Go on with the next cycle",
      description: "Cycles that fell into the pause are skipped for good.",
      ...writing,
      request: { headers: IdempotencyHeader, params: SubscriptionPath },
      responses: {
        200: json(Subscription, "The subscription, now active; past-due where an invoice of it is"),
        ...problems(...writeFaults, "not_found", "subscription_cancelled"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await resumeSubscription(desk, { ctx, input }),
      }));
    },
  });
}

function cancelOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/subscriptions/{id}/cancel",
      summary: "End a subscription",
      ...writing,
      request: {
        headers: IdempotencyHeader,
        params: SubscriptionPath,
        body: { ...body(CancelInput), required: false },
      },
      responses: {
        200: json(Subscription, "The subscription: cancelled, or with the instant at which it will be"),
        ...problems(...writeFaults, "not_found"),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await cancelSubscription(desk, { ctx, input }),
      }));
    },
  });
}

import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import { body, bodyFaults, json, problems, secretKey, secretKeyFaults } from "../http/route.ts";
import { mustBeKnown } from "./pattern.ts";
import {
  DeliveryFilter,
  Event,
  EventFilter,
  EventPath,
  IssuedWebhookEndpoint,
  Replay,
  Replayed,
  SecretRotation,
  TestSent,
  WebhookDelivery,
  WebhookDeliveryPath,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
  WebhookEndpointPath,
} from "./schema.ts";
import { listDeliveries, redeliver, replay } from "./verbs/delivery.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  type Post,
  readEndpoint,
  rotateSecret,
  testEndpoint,
} from "./verbs/endpoint.ts";
import { listEvents, readEvent } from "./verbs/event.ts";

const endpoints = { tags: ["webhooks"], ...secretKey({ permission: "webhooks:manage" }) };
const events = { tags: ["events"], ...secretKey({ permission: "events:read" }) };

/** Where a merchant listens, what was sent there, and all that it was told. What answers with a secret takes no
 *  `Idempotency-Key`: a stored answer would keep the secret. Source: merchant-api.md §2.7, §6. */
export function webhookRoutes(post: Post) {
  return [
    ...keepingRoutes(post),
    ...secretRoutes(post),
    ...deliveryRoutes(post),
    ...eventRoutes(post),
  ] as const;
}

function keepingRoutes(post: Post) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "get",
      path: "/v1/webhook-endpoints",
      summary: "List the merchant's webhook endpoints",
      responses: {
        200: json(z.array(WebhookEndpoint), "Newest first; there are 16 at most"),
        ...problems(...secretKeyFaults),
      },
    }),
    handler: async (c) => c.json([...(await listEndpoints({ ctx: c.var.merchant, input: {} }))], 200),
  });
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "post",
      path: "/v1/webhook-endpoints",
      summary: "Add a webhook endpoint",
      description:
        "The secret is shown in this answer and never again. The revision that the request is answered in is the one " +
        "whose shapes the endpoint is sent from then on.",
      request: { body: body(WebhookEndpointInput) },
      responses: {
        201: json(IssuedWebhookEndpoint, "The endpoint with its secret"),
        ...problems(...secretKeyFaults, ...bodyFaults, "url_not_allowed", "webhook_endpoint_limit"),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("json"), apiVersion: c.var.served.date };
      const made = await createEndpoint(post, { ctx: c.var.merchant, input });
      c.header("Location", `/v1/webhook-endpoints/${made.id}`);
      return c.json(made, 201);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "get",
      path: "/v1/webhook-endpoints/{id}",
      summary: "Read a webhook endpoint",
      request: { params: WebhookEndpointPath },
      responses: { 200: json(WebhookEndpoint, "The endpoint"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readEndpoint({ ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  const change = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "patch",
      path: "/v1/webhook-endpoints/{id}",
      summary: "Change a webhook endpoint",
      description: "Enabled anew, it is sent what was waiting; what happened meanwhile can be replayed.",
      request: { params: WebhookEndpointPath, body: body(WebhookEndpointChange) },
      responses: {
        200: json(WebhookEndpoint, "The endpoint as it is now"),
        ...problems(...secretKeyFaults, ...bodyFaults, "not_found", "url_not_allowed"),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("json"), ...c.req.valid("param") };
      return c.json(await changeEndpoint(post, { ctx: c.var.merchant, input }), 200);
    },
  });
  const remove = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "delete",
      path: "/v1/webhook-endpoints/{id}",
      summary: "Delete a webhook endpoint",
      request: { params: WebhookEndpointPath },
      responses: { 204: { description: "Deleted" }, ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => {
      await deleteEndpoint({ ctx: c.var.merchant, input: c.req.valid("param") });
      return c.body(null, 204);
    },
  });
  return [list, create, read, change, remove] as const;
}

function secretRoutes(post: Post) {
  const rotate = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "post",
      path: "/v1/webhook-endpoints/{id}/rotate-secret",
      summary: "Replace the secret of a webhook endpoint",
      request: { params: WebhookEndpointPath, body: { ...body(SecretRotation), required: false } },
      responses: {
        200: json(IssuedWebhookEndpoint, "With the new secret; the old one signs as well for graceSeconds"),
        ...problems(...secretKeyFaults, ...bodyFaults, "not_found"),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return c.json(await rotateSecret(post, { ctx: c.var.merchant, input }), 200);
    },
  });
  const test = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "post",
      path: "/v1/webhook-endpoints/{id}/test",
      summary: "Send a ping",
      request: { params: WebhookEndpointPath },
      responses: {
        202: json(TestSent, "The ping is on its way"),
        ...problems(...secretKeyFaults, ...bodyFaults, "not_found", "webhook_endpoint_disabled"),
      },
    }),
    handler: async (c) =>
      c.json(await testEndpoint({ ctx: c.var.merchant, input: c.req.valid("param") }), 202),
  });
  return [rotate, test] as const;
}

function deliveryRoutes({ types }: Post) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "get",
      path: "/v1/webhook-endpoints/{id}/deliveries",
      summary: "What was sent to a webhook endpoint, and is to be",
      request: { params: WebhookEndpointPath, query: PageQuery.extend(DeliveryFilter.shape) },
      responses: {
        200: json(z.array(WebhookDelivery), "Newest first, of the last 30 days"),
        ...problems(...secretKeyFaults, "not_found", "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const input = { ...c.req.valid("param"), ...page, ...filter };
      const found = await listDeliveries({ ctx: c.var.merchant, input });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
  const again = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "post",
      path: "/v1/webhook-deliveries/{id}/redeliver",
      summary: "Send an event again",
      request: { params: WebhookDeliveryPath },
      responses: {
        202: json(WebhookDelivery, "The delivery, queued anew"),
        ...problems(...secretKeyFaults, ...bodyFaults, "not_found", "webhook_endpoint_disabled"),
      },
    }),
    handler: async (c) => c.json(await redeliver({ ctx: c.var.merchant, input: c.req.valid("param") }), 202),
  });
  const all = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...endpoints,
      method: "post",
      path: "/v1/webhook-endpoints/{id}/replay",
      summary: "Send all events of a time again",
      description:
        "Those that the endpoint listens to now, also where it did not then: at most 10 000, at most 30 days old.",
      request: { params: WebhookEndpointPath, body: body(Replay) },
      responses: {
        202: json(Replayed, "They are on their way, oldest first"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          "not_found",
          "webhook_endpoint_disabled",
          "replay_too_large",
        ),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return c.json(await replay(types, { ctx: c.var.merchant, input }), 202);
    },
  });
  return [list, again, all] as const;
}

function eventRoutes({ allTypes }: Post) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...events,
      method: "get",
      path: "/v1/events",
      summary: "List what the merchant was told",
      description:
        "Everything of the last 90 days, whether or not an endpoint listened: the way to catch up without webhooks.",
      request: { query: PageQuery.extend(EventFilter.shape) },
      responses: {
        200: json(z.array(Event), "By sequence, newest first unless asked otherwise"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      if (filter.types) mustBeKnown(filter.types, allTypes, "/query/types");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listEvents(allTypes, { ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...events,
      method: "get",
      path: "/v1/events/{id}",
      summary: "Read an event",
      request: { params: EventPath },
      responses: { 200: json(Event, "The event"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => c.json(await readEvent({ ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  return [list, read] as const;
}

import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { keyedAfter } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  IdempotencyHeader,
  idempotencyFaults,
  json,
  problems,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import {
  ProbedResource,
  RegisteredResource,
  Resource,
  ResourceInput,
  ResourcePath,
  Resources,
  ResourceTrial,
} from "./schema.ts";
import {
  archiveResource,
  findBeforehand,
  listResources,
  readResource,
  registerResource,
  type Shop,
  setListed,
  tryResource,
} from "./verbs.ts";

const tags = ["x402 resources"];

/** Endpoints a merchant sells to agents. */
export function resourceRoutes(shop: Shop) {
  const register = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/x402/resources",
      tags,
      summary: "Register an endpoint, or register it anew",
      ...secretKey({ permission: "x402:manage" }),
      request: { headers: IdempotencyHeader, body: body(ResourceInput) },
      responses: {
        200: json(RegisteredResource, "The resource, registered anew"),
        201: json(RegisteredResource, "The new resource"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...idempotencyFaults,
          "too_many_decimals",
          "url_registered_elsewhere",
          "url_not_allowed",
          "currency_unsupported",
          "amount_too_small",
          "amount_too_large",
          "rail_unsupported",
          "token_domain_unreadable",
        ),
      },
    }),
    handler: async (c) => {
      const input = c.req.valid("json");
      const beforehand = () => findBeforehand(shop, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: false, beforehand }, async (ctx, found) => {
        const { isNew, resource } = await registerResource(shop, { ctx, input, found });
        const headers = { Location: `/v1/x402/resources/${resource.id}` };
        return isNew
          ? { status: 201, body: resource, headers, resourceId: resource.id }
          : { status: 200, body: resource, resourceId: resource.id };
      });
    },
  });

  const dryRun = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/x402/resources/probe",
      tags,
      summary: "Ask an endpoint as agents will, without storing anything",
      ...secretKey({ permission: "x402:manage" }),
      request: { body: body(ResourceInput) },
      responses: {
        200: json(ResourceTrial, "What agents would meet there"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          "too_many_decimals",
          "url_not_allowed",
          "currency_unsupported",
          "amount_too_small",
          "amount_too_large",
          "rail_unsupported",
          "token_domain_unreadable",
        ),
      },
    }),
    handler: async (c) =>
      c.json(await tryResource(shop, { ctx: c.var.merchant, input: c.req.valid("json") }), 200),
  });

  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/x402/resources",
      tags,
      summary: "List the merchant's resources",
      ...secretKey({ permission: "x402:read" }),
      request: { query: PageQuery },
      responses: {
        200: json(Resources, "The resources, newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const page = readPage(c, c.req.valid("query"), {});
      const found = await listResources(shop, { ctx: c.var.merchant, input: page });
      return c.json({ resources: [...pageOf(c, page, found, {})] }, 200);
    },
  });

  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/x402/resources/{id}",
      tags,
      summary: "Read a resource",
      ...secretKey({ permission: "x402:read" }),
      request: { params: ResourcePath },
      responses: { 200: json(ProbedResource, "The resource"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readResource(shop, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });

  const archive = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "delete",
      path: "/v1/x402/resources/{id}",
      tags,
      summary: "Take a resource off sale for good",
      ...secretKey({ permission: "x402:manage" }),
      request: { params: ResourcePath },
      responses: { 204: { description: "Archived" }, ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => {
      await archiveResource(shop, { ctx: c.var.merchant, input: c.req.valid("param") });
      return c.body(null, 204);
    },
  });

  const listing = (action: "list" | "unlist") =>
    defineOpenAPIRoute({
      addRoute: true,
      route: createRoute({
        method: "post",
        path: `/v1/x402/resources/{id}/${action}`,
        tags,
        summary:
          action === "list" ? "Show a resource in the discovery index" : "Hide a resource from the index",
        ...secretKey({ permission: "x402:manage" }),
        request: { params: ResourcePath },
        responses: { 200: json(Resource, "The resource"), ...problems(...secretKeyFaults, "not_found") },
      }),
      handler: async (c) => {
        const input = { id: c.req.valid("param").id, listed: action === "list" };
        return c.json(await setListed(shop, { ctx: c.var.merchant, input }), 200);
      },
    });

  return [register, dryRun, list, read, archive, listing("list"), listing("unlist")] as const;
}

import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { keyed } from "../http/idempotency.ts";
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
import { Customer, CustomerChange, CustomerFilter, CustomerInput, CustomerPath } from "./schema.ts";
import { changeCustomer, createCustomer, listCustomers, readCustomer } from "./verbs.ts";

const reading = { tags: ["customers"], ...secretKey({ permission: "customers:read" }) };
const writing = { tags: ["customers"], ...secretKey({ permission: "customers:manage" }) };
const writeFaults = [...secretKeyFaults, ...bodyFaults, ...idempotencyFaults, "email_taken"] as const;

/** Who buys from a merchant. */
export function customerRoutes() {
  return [...writes(), ...reads()] as const;
}

function writes() {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/customers",
      summary: "Add a customer",
      ...writing,
      request: { headers: IdempotencyHeader, body: body(CustomerInput) },
      responses: { 201: json(Customer, "The customer"), ...problems(...writeFaults) },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      return keyed(c, { input, isRequired: false }, async (ctx) => {
        const made = await createCustomer({ ctx, input });
        const headers = { Location: `/v1/customers/${made.id}` };
        return { status: 201, body: made, headers, resourceId: made.id };
      });
    },
  });
  const change = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "patch",
      path: "/v1/customers/{id}",
      summary: "Change a customer",
      ...writing,
      request: { headers: IdempotencyHeader, params: CustomerPath, body: body(CustomerChange) },
      responses: { 200: json(Customer, "The customer"), ...problems(...writeFaults, "not_found") },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("json"), ...c.req.valid("param") };
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await changeCustomer({ ctx, input }),
      }));
    },
  });
  return [create, change] as const;
}

function reads() {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/customers",
      summary: "List the merchant's customers",
      ...reading,
      request: { query: PageQuery.extend(CustomerFilter.shape) },
      responses: {
        200: json(z.array(Customer), "Newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listCustomers({ ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/customers/{id}",
      summary: "Read a customer",
      ...reading,
      request: { params: CustomerPath },
      responses: { 200: json(Customer, "The customer"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readCustomer({ ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  return [list, read] as const;
}

import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { keyed } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  publishableKey,
  publishableKeyFaults,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import { Product, ProductChange, ProductFilter, ProductInput, ProductPath } from "./schema.ts";
import { changeProduct, createProduct } from "./verbs/change.ts";
import { listProducts, readProduct } from "./verbs/find.ts";

const reading = { tags: ["catalog"], ...publishableKey() };
const writing = { tags: ["catalog"], ...secretKey({ permission: "catalog:manage" }) };
const writeFaults = [
  ...secretKeyFaults,
  ...bodyFaults,
  ...requiredKeyFaults,
  "merchant_mismatch",
  "sku_taken",
  "too_many_decimals",
  "currency_unsupported",
] as const;

/** What a merchant sells. */
export function catalogRoutes() {
  return [...writes(), ...reads()] as const;
}

function writes() {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/catalog/products",
      summary: "Add a product",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, body: body(ProductInput) },
      responses: { 201: json(Product, "The product"), ...problems(...writeFaults) },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      return keyed(c, { input, isRequired: true }, async (ctx) => {
        const made = await createProduct({ ctx, input });
        const headers = { Location: `/v1/catalog/products/${made.id}` };
        return { status: 201, body: made, headers, resourceId: made.id };
      });
    },
  });
  const change = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "patch",
      path: "/v1/catalog/products/{id}",
      summary: "Change a product",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: ProductPath, body: body(ProductChange) },
      responses: {
        200: json(Product, "The product"),
        ...problems(...writeFaults, "not_found", "version_conflict"),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("json"), ...c.req.valid("param") };
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await changeProduct({ ctx, input }),
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
      path: "/v1/catalog/products",
      summary: "List the merchant's products",
      ...reading,
      request: { query: PageQuery.extend(ProductFilter.shape) },
      responses: {
        200: json(z.array(Product), "Newest first"),
        ...problems(...publishableKeyFaults, "invalid_cursor", "merchant_mismatch"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listProducts({ ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/catalog/products/{id}",
      summary: "Read a product",
      ...reading,
      request: { params: ProductPath },
      responses: { 200: json(Product, "The product"), ...problems(...publishableKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readProduct({ ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  return [list, read] as const;
}

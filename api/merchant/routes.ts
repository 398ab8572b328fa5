import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
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
import {
  ApiKey,
  ApiKeyInput,
  ApiKeyPath,
  IssuedApiKey,
  Merchant,
  MerchantChange,
  Rotation,
} from "./schema.ts";
import { endKey, issueKey, listKeys, rotateKey } from "./verbs/key.ts";
import type { KeyMaker } from "./verbs/key-row.ts";
import { changeMerchant, type MerchantDesk, readMerchant } from "./verbs/merchant.ts";

const keys = { tags: ["API keys"], ...secretKey({ permission: "keys:manage", isNotedByVerb: true }) };
const settings = { tags: ["merchant"], ...secretKey({ permission: "merchant:manage", isNotedByVerb: true }) };

/** A merchant's keys and settings. What answers with a key takes no `Idempotency-Key`: a stored answer would keep the
 *  key, which is kept nowhere. Source: merchant-api.md §2.7, §5. */
export function merchantRoutes(maker: KeyMaker, desk: MerchantDesk) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keys,
      method: "get",
      path: "/v1/api-keys",
      summary: "List the merchant's keys",
      request: { query: PageQuery },
      responses: {
        200: json(ApiKey.array(), "The keys, newest first, revoked ones included"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const page = readPage(c, c.req.valid("query"), {});
      const found = await listKeys({ ctx: c.var.merchant, input: page });
      return c.json([...pageOf(c, page, found, {})], 200);
    },
  });

  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keys,
      method: "post",
      path: "/v1/api-keys",
      summary: "Create a key",
      description:
        "The key may do no more than the one that asks, works from no more addresses and ends no later: where allowedIps " +
        "or expiresAt are left out, it has those of the key that asks. A publishable key, which is for pages, works from " +
        "everywhere unless it names addresses. The key is shown in this answer and never again; there is no " +
        "Idempotency-Key here, since a stored answer would keep it.",
      request: { body: body(ApiKeyInput) },
      responses: {
        201: json(IssuedApiKey, "The new key"),
        ...problems(...secretKeyFaults, ...bodyFaults, "key_limits_exceeded"),
      },
    }),
    handler: async (c) => {
      const issued = await issueKey(maker, { ctx: c.var.merchant, input: c.req.valid("json") });
      c.header("Location", `/v1/api-keys/${issued.id}`);
      return c.json(issued, 201);
    },
  });

  const rotate = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keys,
      method: "post",
      path: "/v1/api-keys/{id}/rotate",
      summary: "Replace a key",
      description:
        "The new key is like the replaced one: its permissions, addresses and end are the same. A key that may " +
        "less, works from fewer addresses or ends sooner cannot ask for it.",
      request: { params: ApiKeyPath, body: { ...body(Rotation), required: false } },
      responses: {
        201: json(IssuedApiKey, "The new key; the replaced one stays good for graceSeconds"),
        ...problems(...secretKeyFaults, ...bodyFaults, "key_limits_exceeded", "not_found", "key_revoked"),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      const issued = await rotateKey(maker, { ctx: c.var.merchant, input });
      c.header("Location", `/v1/api-keys/${issued.id}`);
      return c.json(issued, 201);
    },
  });

  const end = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keys,
      method: "delete",
      path: "/v1/api-keys/{id}",
      summary: "Revoke a key",
      request: { params: ApiKeyPath },
      responses: {
        204: { description: "Revoked; no request passes with it after 5 seconds" },
        ...problems(...secretKeyFaults, "not_found"),
      },
    }),
    handler: async (c) => {
      await endKey({ ctx: c.var.merchant, input: c.req.valid("param") });
      return c.body(null, 204);
    },
  });

  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...settings,
      method: "get",
      path: "/v1/merchant",
      summary: "Read the merchant's data and settings",
      responses: { 200: json(Merchant, "The merchant of the key"), ...problems(...secretKeyFaults) },
    }),
    handler: async (c) => c.json(await readMerchant({ ctx: c.var.merchant }), 200),
  });

  const change = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...settings,
      method: "patch",
      path: "/v1/merchant",
      summary: "Change the merchant's data and settings",
      request: { headers: IdempotencyHeader, body: body(MerchantChange) },
      responses: {
        200: json(Merchant, "The merchant as it is now"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...idempotencyFaults,
          "rail_unsupported",
          "token_domain_unreadable",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await changeMerchant(desk, { ctx, input }),
      }));
    },
  });

  return [list, create, rotate, end, read, change] as const;
}

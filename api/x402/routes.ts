import { createRoute, defineOpenAPIRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { etag } from "hono/etag";
import type { Facilitator } from "#facilitator";
import { isId } from "#kernel/id";
import { fault } from "../http/faults.ts";
import { PRIVATE } from "../http/headers.ts";
import { limitByAddress } from "../http/limit.ts";
import { presentPrice } from "../http/money.ts";
import { body, json, Problem, problems } from "../http/route.ts";
import { DiscoveryQuery, discover, SearchQuery } from "./discovery.ts";
import { presentRail, presentRequired, presentStatus, presentSupported } from "./present.ts";
import {
  DiscoveryList,
  DiscoverySearch,
  PaymentBody,
  PaymentRequiredLookup,
  SettlementStatusResponse,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from "./schema.ts";
import { toHeader } from "./wire.ts";

interface Deps {
  readonly facilitator: Facilitator;
  readonly baseUrl: string;
}
const tags = ["x402"];
const SHORT = "public, max-age=30";
const IdPath = z.object({ id: z.string() });

/** A keyless look-up. `security: []`, or indexers probe it as if it were for sale. */
const keyless = { method: "get" as const, tags, security: [] as Record<string, string[]>[] };
const found = { ...keyless, middleware: [limitByAddress("lookup")] };
const indexed = { ...keyless, middleware: [limitByAddress("discovery"), etag()] };

/** The keyless routes that move no money. Source: x402.md §4, §5, agents.md §6. */
export function x402Routes({ facilitator, baseUrl }: Deps) {
  const paymentRequired = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...found,
      path: "/x402/resources/{id}/payment-required",
      summary: "What a resource costs, without calling it",
      request: { params: IdPath },
      responses: {
        200: json(PaymentRequiredLookup, "What the resource's own 402 says, with price and rails"),
        ...problems("not_found", "payable_closed"),
      },
    }),
    handler: async (c) => {
      const { id } = c.req.valid("param");
      const offer = isId("x402r", id) ? await facilitator.offer({ by: "id", id }) : null;
      if (!offer) throw fault("not_found");
      if (offer.payable.closedAt) throw fault("payable_closed");
      const required = presentRequired(offer);
      c.header("PAYMENT-REQUIRED", toHeader(required));
      c.header("Cache-Control", "max-age=30");
      return c.json(
        { ...required, price: presentPrice(offer.payable.price), rails: offer.options.map(presentRail) },
        200,
      );
    },
  });

  const supported = async (c: Context, id?: string) => {
    const known = id === undefined || isId("x402r", id) ? await facilitator.supported(id) : null;
    if (!known) throw fault("not_found");
    c.header("Cache-Control", SHORT);
    return c.json(presentSupported(known), 200);
  };
  const supportedByAll = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keyless,
      path: "/x402/supported",
      summary: "Networks that payments work on right now",
      responses: { 200: json(SupportedResponse, "Kinds, extensions and signers"), ...problems() },
    }),
    handler: (c) => supported(c),
  });
  const supportedByOne = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...keyless,
      path: "/x402/resources/{id}/supported",
      summary: "Networks that a resource can be paid on",
      request: { params: IdPath },
      responses: { 200: json(SupportedResponse, "Kinds, extensions and signers"), ...problems("not_found") },
    }),
    handler: (c) => supported(c, c.req.valid("param").id),
  });

  const settlement = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...found,
      path: "/x402/settlements/{id}",
      summary: "Where a settlement stands",
      request: { params: IdPath },
      responses: { 200: json(SettlementStatusResponse, "Chain facts only"), ...problems("not_found") },
    }),
    handler: async (c) => {
      const { id } = c.req.valid("param");
      const status = isId("stl", id) ? await facilitator.status(id) : null;
      if (!status) throw fault("not_found");
      c.header("Cache-Control", PRIVATE);
      return c.json(presentStatus(status), 200);
    },
  });

  const index = (path: "/x402/resources" | "/x402/discovery/resources") =>
    defineOpenAPIRoute({
      addRoute: true,
      route: createRoute({
        ...indexed,
        path,
        summary: "Listed resources",
        request: { query: DiscoveryQuery },
        responses: { 200: json(DiscoveryList, "A page of what is listed"), ...problems("invalid_cursor") },
      }),
      handler: async (c) => {
        const { items, ...pagination } = await discover(facilitator, baseUrl, c.req.valid("query"));
        c.header("Cache-Control", SHORT);
        return c.json({ x402Version: 2 as const, items, resources: items, pagination }, 200);
      },
    });

  const search = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...indexed,
      path: "/x402/discovery/search",
      summary: "Listed resources that match words",
      request: { query: SearchQuery },
      responses: { 200: json(DiscoverySearch, "The best matches"), ...problems("invalid_cursor") },
    }),
    handler: async (c) => {
      // The shape has no total, so none is counted.
      const query = c.req.valid("query");
      const { items, limit, cursor } = await discover(facilitator, baseUrl, query, { count: "page" });
      c.header("Cache-Control", SHORT);
      return c.json({ x402Version: 2 as const, resources: items, pagination: { limit, cursor } }, 200);
    },
  });

  return [
    paymentRequired,
    supportedByAll,
    supportedByOne,
    settlement,
    index("/x402/resources"),
    index("/x402/discovery/resources"),
    search,
  ] as const;
}

/** Puts verify and settle, which are not made from schemas, into the OpenAPI document. */
export function describePayments(app: OpenAPIHono): void {
  const typedProblem = (schema: typeof VerifyResponse | typeof SettleResponse) => ({
    "application/problem+json": { schema: Problem.and(schema) },
  });
  const refusals = (schema: typeof VerifyResponse | typeof SettleResponse) =>
    Object.fromEntries(
      [400, 404, 413, 415, 429].map((status) => [
        status,
        {
          description: "Problem details, with the typed fields of the answer beside them",
          content: typedProblem(schema),
        },
      ]),
    );
  for (const base of ["/x402/resources/{id}", "/x402"] as const) {
    const request =
      base === "/x402" ? { body: body(PaymentBody) } : { params: IdPath, body: body(PaymentBody) };
    const common = { method: "post" as const, tags, security: [], request };
    app.openAPIRegistry.registerPath({
      ...common,
      path: `${base}/verify`,
      summary: "Check a signed payment without sending it",
      responses: { 200: json(VerifyResponse, "The verdict"), ...refusals(VerifyResponse) },
    });
    app.openAPIRegistry.registerPath({
      ...common,
      path: `${base}/settle`,
      summary: "Settle a signed payment",
      responses: {
        200: json(SettleResponse, "How it ended, or that it is pending"),
        ...refusals(SettleResponse),
        409: {
          description:
            "Settled before or bound elsewhere; as problem details, the idempotency key was reused",
          content: { ...json(SettleResponse, "").content, ...typedProblem(SettleResponse) },
        },
        503: {
          description: "We cannot say; repeat the identical request",
          content: typedProblem(SettleResponse),
        },
      },
    });
  }
}

import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { json, problems, publishableKey, publishableKeyFaults } from "../http/route.ts";
import { Currencies, Rails } from "./schema.ts";
import { listCurrencies, listRails, type Pricing } from "./verbs.ts";

const tags = ["rates"];

/** What can be paid with here, and what amounts may be written in. */
export function rateRoutes(pricing: Pricing) {
  const rails = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/rails",
      tags,
      summary: "List the tokens and chains that payers can pay with",
      ...publishableKey(),
      responses: { 200: json(Rails, "The rails of this deployment"), ...problems(...publishableKeyFaults) },
    }),
    handler: (c) => c.json(listRails(pricing), 200),
  });

  const units = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/currencies",
      tags,
      summary: "List the units that amounts may be written in",
      ...publishableKey(),
      responses: {
        200: json(Currencies, "Currencies and stablecoins"),
        ...problems(...publishableKeyFaults),
      },
    }),
    handler: (c) => c.json(listCurrencies(), 200),
  });

  return [rails, units] as const;
}

/** The bodies of the calls to copy: each is one that its route takes. */
import type { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, it } from "vitest";
import { isStablecoin } from "#kernel/asset";
import type { Document } from "../../../api/reference/document.ts";
import { sampleOf } from "../../../api/reference/sample.ts";
import { stillSandbox, world } from "../world.ts";

const { app } = world({ sandbox: stillSandbox });
let document: Document;
beforeAll(async () => {
  document = (await (await app.request("/openapi.json")).json()) as Document;
});

const JSON_TYPE = "application/json";
const drawn = (method: string, path: string) =>
  sampleOf(document, document.paths[path]?.[method]?.requestBody?.content[JSON_TYPE] ?? {}, "least");

const routes = app.openAPIRegistry.definitions.flatMap((definition) => {
  if (definition.type !== "route") return [];
  const { method, path, request } = definition.route;
  const media = request?.body?.content[JSON_TYPE];
  return media && "schema" in media ? [{ method, path, schema: media.schema as z.ZodType }] : [];
});

describe("the body of a call to copy", () => {
  it.each(routes)("keeps to its schema: $method $path", ({ method, path, schema }) => {
    expect(schema.safeParse(drawn(method, path)).error?.issues ?? []).toEqual([]);
  });

  it("is there for each route that takes JSON", () => {
    const described = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).filter(({ requestBody }) => requestBody?.content[JSON_TYPE]),
    );
    expect(routes).toHaveLength(described.length);
  });

  it("leaves the merchant to the key", () => {
    const all = JSON.stringify(routes.map(({ method, path }) => drawn(method, path)));
    expect(all).not.toContain('"merchantId"');
  });

  it("pays out in a coin", () => {
    const { amount } = drawn("post", "/v1/payouts") as { readonly amount: { readonly asset: string } };
    expect(isStablecoin(amount.asset)).toBe(true);
  });

  it("replays what came between two moments", () => {
    const { from, to } = drawn("post", "/v1/webhook-endpoints/{id}/replay") as Record<"from" | "to", string>;
    expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
  });
});

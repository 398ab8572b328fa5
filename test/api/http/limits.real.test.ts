/** Every route that asks for no key counts its callers by address, and tells them what is left. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { world } from "../world.ts";

/** Probes of the process itself, and what stock servers ask for before they start. */
const EXEMPT = ["/health", "/x402/supported", "/x402/resources/{id}/supported"];
/** Not in the document. */
const MORE = [
  "/docs",
  "/llms.txt",
  "/.well-known/ai-catalog.json",
  "/.well-known/x402",
  "/openapi.json",
  "/errors/not_found",
  `/assets/logo-${"0".repeat(64)}.png`,
];

const database = sharedDatabase();

type Operation = { readonly security?: readonly unknown[] };

/** What may be called without a key, as `METHOD /path`. */
async function keylessRoutes(app: ReturnType<typeof world>["app"]): Promise<readonly string[]> {
  const { paths } = (await (await app.request("/openapi.json")).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security?.length === 0 && !EXEMPT.includes(path))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

describe("a route without a key", () => {
  it("says with RateLimit what is left, whatever it answers", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const routes = [...(await keylessRoutes(app)), ...MORE.map((path) => `GET ${path}`)];
    expect(routes.length).toBeGreaterThan(20);
    const silent: string[] = [];
    for (const route of routes) {
      const [method = "", path = ""] = route.split(" ");
      const body = method === "GET" ? {} : { body: "{}", headers: { "content-type": "application/json" } };
      const { headers } = await app.request(path.replaceAll(/\{\w+\}/g, "x"), { method, ...body });
      const isTold =
        /^"[\w-]+";r=\d+;t=\d+$/.test(headers.get("ratelimit") ?? "") && headers.has("ratelimit-policy");
      if (!isTold) silent.push(route);
    }
    expect(silent).toEqual([]);
  });

  it("refuses beyond the rate with 429 and Retry-After", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const ask = () => app.request("/x402/settlements/stl_00000000000000000000000000");
    const answers = await Promise.all(Array.from({ length: 260 }, ask));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("ratelimit")).toMatch(/^"lookup";r=0;t=\d+$/);
    expect((await app.request("/x402/supported")).status).not.toBe(429);
  });
});

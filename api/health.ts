import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { limitByAddress } from "./http/limit.ts";
import { json } from "./http/route.ts";

/** What keeps the service from taking work, and what an operator should know beside it. */
export interface Readiness {
  readonly isReady: boolean;
  /** Shown as they are; only `isReady` decides. */
  readonly checks: Readonly<Record<string, unknown>>;
}

const Health = z
  .object({ status: z.literal("ok"), version: z.string(), revision: z.string() })
  .openapi("Health");
const Ready = z
  .object({ status: z.enum(["ready", "not-ready"]), checks: z.record(z.string(), z.unknown()) })
  .openapi("Readiness");

export function healthRoutes({
  version,
  revision,
  ready,
}: {
  readonly version: string;
  readonly revision: string;
  readonly ready: () => Promise<Readiness>;
}) {
  const common = { method: "get" as const, tags: ["service"], security: [] as Record<string, string[]>[] };
  const health = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...common,
      path: "/health",
      summary: "Whether the process answers",
      responses: { 200: json(Health, "It does; the database was not asked") },
    }),
    handler: (c) => c.json({ status: "ok" as const, version, revision }, 200),
  });
  const readiness = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...common,
      middleware: [limitByAddress("lookup")],
      path: "/health/ready",
      summary: "Whether the process takes work",
      responses: { 200: json(Ready, "It does"), 503: json(Ready, "It does not") },
    }),
    handler: async (c) => {
      const { isReady, checks } = await ready();
      c.header("Cache-Control", "no-store");
      return isReady
        ? c.json({ status: "ready" as const, checks }, 200)
        : c.json({ status: "not-ready" as const, checks }, 503);
    },
  });
  return [health, readiness] as const;
}

import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { fault, publicFaults } from "./faults.ts";
import { statusOf } from "./problem.ts";
import { json, problems } from "./route.ts";

const ErrorPage = z
  .object({ code: z.string(), title: z.string(), status: z.int(), detail: z.string() })
  .openapi("ErrorPage");

/** What a problem's `type` points to: the code, in words. */
export const errorRoutes = [
  defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/errors/{code}",
      tags: ["service"],
      security: [],
      summary: "What an error code means",
      request: { params: z.object({ code: z.string() }) },
      responses: { 200: json(ErrorPage, "The meaning of the code"), ...problems("not_found") },
    }),
    handler: (c) => {
      const { code } = c.req.valid("param");
      const spec = Object.hasOwn(publicFaults, code) ? publicFaults[code] : undefined;
      if (!spec) throw fault("not_found");
      const status = code === "method_not_allowed" ? 405 : statusOf[spec.kind];
      c.header("Cache-Control", "public, max-age=3600");
      return c.json({ code, title: spec.title, status, detail: spec.detail }, 200);
    },
  }),
] as const;

import type { OpenAPIHono } from "@hono/zod-openapi";

const guidance =
  "Find a resource with GET /x402/resources, read its price with GET /x402/resources/{id}/payment-required, call the " +
  "resource's own URL with an x402 client, and ask GET /x402/settlements/{id} where a payment stands. A pending " +
  "payment is not a failed one: repeat the identical request, never sign again.";

/** `GET /openapi.json`, made from the schemas that validate. */
export function addDocument(
  app: OpenAPIHono,
  { baseUrl, version }: { readonly baseUrl: string; readonly version: string },
): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "secretKey", {
    type: "http",
    scheme: "bearer",
    description: "A secret key, sk_…; for servers only",
  });
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: {
          title: "Farebox",
          version,
          description: "An x402 facilitator with its own books, and a merchant payments API on top of them.",
          "x-guidance": guidance,
        },
        servers: [{ url: baseUrl }],
      }),
    );
    return c.body(document, 200, {
      "Content-Type": "application/json",
      "Cache-Control": "public, max-age=300",
    });
  });
}

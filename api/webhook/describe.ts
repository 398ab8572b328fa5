import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { EventFamily } from "../http/event.ts";
import { Event } from "./schema.ts";

const SignedHeaders = z.object({
  "webhook-id": z.string().openapi({ description: "The event's id: the same at each attempt" }),
  "webhook-timestamp": z.string().openapi({ description: "Of this attempt, in Unix seconds" }),
  "webhook-signature": z
    .string()
    .openapi({ description: "v1,<base64 of HMAC-SHA256 over id.timestamp.body>, separated by spaces" }),
});

/** Every event as a webhook of the OpenAPI document. */
export function describeEvents({ openAPIRegistry }: OpenAPIHono, families: readonly EventFamily[]): void {
  for (const { types, object } of families)
    for (const type of types)
      openAPIRegistry.registerWebhook({
        method: "post",
        path: type,
        operationId: type,
        tags: ["events"],
        summary: type,
        security: [],
        request: {
          headers: SignedHeaders,
          body: {
            required: true,
            content: {
              "application/json": {
                schema: Event.extend({
                  type: z.literal(type),
                  data: Event.shape.data.extend({ object }),
                }),
              },
            },
          },
        },
        responses: {
          "2XX": { description: "Taken. Anything else, and it is sent again." },
          410: { description: "Nobody listens here any more: the endpoint is disabled." },
        },
      });
}

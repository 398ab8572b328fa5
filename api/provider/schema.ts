import { z } from "@hono/zod-openapi";

export const ProviderPath = z.object({
  provider: z.string().max(40).openapi({ param: { name: "provider", in: "path" }, example: "sandbox" }),
});

export const Received = z.object({ received: z.literal(true) }).openapi("ProviderEventReceived");

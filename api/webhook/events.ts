import { z } from "@hono/zod-openapi";
import type { EventFamily } from "../http/event.ts";

/** What a merchant asks for to see whether an endpoint hears; told to that endpoint alone. */
export const PING = "ping";

const Ping = z.object({ webhookEndpointId: z.string(), message: z.string() }).openapi("Ping", {
  example: { webhookEndpointId: "whe_01K2C0Z0000000000000000000", message: "It works." },
});

export const pingEvents: EventFamily = {
  types: [PING],
  object: Ping,
  present: async (_db, facts) =>
    facts.map(({ subject }) => ({ webhookEndpointId: subject, message: "This endpoint hears." })),
};

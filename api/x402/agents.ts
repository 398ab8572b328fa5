import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Edge } from "../http/context.ts";
import { clientAddress } from "../http/limit.ts";
import type { RateName } from "../http/rates.ts";
import { type Delivery, followDelivery } from "./delivery.ts";

/** Who calls the MCP endpoint, as far as HTTP knows. */
export interface AgentCaller {
  readonly address: string;
  /** One for each call of a tool: a request may carry several. */
  readonly newRequestId: () => string;
  /** Counts one call; null when it may pass, else the seconds to wait. For this caller, or for `who`. */
  readonly limit: (name: RateName, who?: string) => Promise<number | null>;
  readonly delivery: Delivery;
}

/** The MCP server as this room sees it: it answers requests. Handed in, because the two edges do not know each other. */
export interface AgentDoor {
  handler(request: Request, caller: AgentCaller): Promise<Response>;
  card(request: Request): Response;
}

/** `POST /x402/mcp` and its card. Ahead of the general middleware: this endpoint has an origin list of its own, and
 *  answers every method itself. */
export function mountAgentDoor(app: OpenAPIHono, edge: Edge, door: AgentDoor): void {
  app.all("/x402/mcp", async (c) => {
    const address = clientAddress(c, edge);
    return door.handler(c.req.raw, {
      address,
      newRequestId: () => edge.newId("req"),
      limit: (name, who = address) => edge.limits(name, who),
      delivery: followDelivery(c),
    });
  });
  app.get("/x402/mcp/server-card", (c) => door.card(c.req.raw));
}

import { Server } from "node:http";
import { serve as listen, type ServerType } from "@hono/node-server";
import type { House } from "./compose.ts";

/** Where people and agents reach the house. */
export interface Listening {
  readonly port: number;
  /** No new connections; answers under way are finished, within five seconds. */
  close(): Promise<void>;
}

/** Node's own limits are lax; these are ours (security.md §8). */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  /** How often the first two are looked at: Node does so every 30 seconds only. */
  connectionsCheckingInterval: 1_000,
};

/** Of the ten seconds that a stop may take. */
const CLOSE_WITHIN_MS = 5_000;

/** Listens for the house's app. Rejects when the port is taken. */
export function serve({ app }: House, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server: ServerType = listen({ fetch: app.fetch, port, serverOptions: LIMITS }, (info) =>
      resolve({ port: info.port, close: () => closed(server) }),
    );
    server.once("error", reject);
    if ("maxRequestsPerSocket" in server) server.maxRequestsPerSocket = 1_000;
    if ("maxConnections" in server) server.maxConnections = 10_000;
  });
}

/** An answer under way keeps its connection alive for the next request: such a connection is ended as soon as it is
 *  idle, and whatever is still open when the patience ends is cut. */
function closed(server: ServerType): Promise<void> {
  if (!(server instanceof Server)) return new Promise((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const patience = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
  return new Promise((resolve) => {
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(patience);
      resolve();
    });
  });
}

import { serve as listen, type ServerType } from "@hono/node-server";
import type { House } from "./compose.ts";

/** Where people and agents reach the house. */
export interface Listening {
  readonly port: number;
  /** No new connections; answers under way are finished. */
  close(): Promise<void>;
}

/** Node's own limits are lax; these are ours (security.md §8). */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
};

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

function closed(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  });
}

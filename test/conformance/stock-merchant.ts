/** A merchant's server on unmodified x402 middleware; what the tests ask of it is what a real seller would see. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/hono";
import { Hono } from "hono";
import { get, type Resource, until } from "../support/house.ts";

export interface Sold {
  readonly path: string;
  readonly resource: Resource;
  /** Left out: authorization, the default of the middleware. */
  readonly flow?: "upfront";
  /** In the middleware's own words, such as "$0.01"; left out, 10,000 atomic units of the first rail in USDC. */
  readonly price?: string;
  /** What the route's own configuration calls its URL; left out, the server reports the address it was called at. */
  readonly url?: string;
}
export interface StockMerchant {
  /** Address of a path as a buyer calls it. */
  at(path: string): string;
  /** How often the handler of a path has run. */
  delivered(path: string): number;
  close(): Promise<void>;
}

/** A merchant server refuses to start where nothing is supported yet: no chain is followed in the first moment. */
export function untilSupported({ baseUrl }: { readonly baseUrl: string }): Promise<void> {
  const kinds = async () => (await get(baseUrl, "/x402/supported")).body.kinds as readonly unknown[];
  return until(async () => (await kinds()).length > 0, "a network is supported");
}

/** Sells each path, once its facilitator has told the server what it supports. */
export async function serveStockMerchant(
  network: `eip155:${number}`,
  facilitatorUrl: string,
  sold: readonly Sold[],
): Promise<StockMerchant> {
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl });
  const server = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  const runs = new Map<string, number>();
  const app = new Hono();
  app.use(
    paymentMiddleware(
      Object.fromEntries(sold.map((one) => [`GET ${one.path}`, routeOf(network, one)])),
      server,
    ),
  );
  for (const { path } of sold)
    app.get(path, (c) => {
      runs.set(path, (runs.get(path) ?? 0) + 1);
      return c.json({ content: path });
    });
  const { listening, port } = await listen(app);
  return {
    at: (path) => `http://127.0.0.1:${port}${path}`,
    delivered: (path) => runs.get(path) ?? 0,
    close: () =>
      new Promise((resolve) => {
        listening.close(() => resolve());
        if ("closeAllConnections" in listening) listening.closeAllConnections();
      }),
  };
}

function routeOf(network: `eip155:${number}`, { resource, flow, price, url }: Sold) {
  const rail = resource.accepts.find(({ asset }) => asset === "USDC");
  if (!rail) throw new Error("the resource has no rail in USDC");
  const { name, version } = rail.domain as { name: string; version: string };
  return {
    accepts: {
      scheme: "exact",
      network,
      payTo: rail.payTo,
      maxTimeoutSeconds: resource.maxTimeoutSeconds,
      price: price ?? {
        amount: "10000",
        asset: rail.contract,
        extra: { name, version, ...(flow === undefined ? {} : { paymentFlow: flow }) },
      },
    },
    ...(url === undefined ? {} : { resource: url }),
    description: "A thing",
    mimeType: "application/json",
  };
}

async function listen(app: Hono) {
  const listening = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(server));
  });
  return { listening, port: (listening.address() as AddressInfo).port };
}

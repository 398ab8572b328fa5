import { type ServerType, serve } from "@hono/node-server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/hono";
import { Hono } from "hono";
import type { Deployment } from "./deployment.ts";

/** A resource as `POST /v1/x402/resources` answers it. */
export interface Resource {
  readonly id: string;
  readonly url: string;
  readonly maxTimeoutSeconds: number;
  readonly accepts: readonly {
    readonly asset: string;
    readonly contract: string;
    readonly payTo: string;
    readonly domain: { readonly name: string; readonly version: string };
  }[];
}

/** Registers an endpoint that we host, and lists it for agents to find. */
export async function register({ baseUrl, secretKey }: Deployment, url: string): Promise<Resource> {
  const response = await fetch(`${baseUrl}/v1/x402/resources`, {
    method: "POST",
    headers: { Authorization: `Bearer ${secretKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      url,
      price: { amount: "0.01", asset: "USD" },
      description: "Tomorrow's weather in Lisbon",
      mimeType: "application/json",
      listed: true,
    }),
  });
  if (!response.ok) throw new Error(`registration: ${response.status} ${await response.text()}`);
  return (await response.json()) as Resource;
}

/** A merchant's server on stock middleware: the facilitator client points at Farebox, everything else is the library's. */
export async function serveMerchant(
  { chain }: Deployment,
  facilitatorUrl: string,
  resource: Resource,
): Promise<{ close(): void }> {
  const usdc = resource.accepts.find(({ asset }) => asset === "USDC");
  if (!usdc) throw new Error("the resource has no USDC rail");
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl })).register(
    chain.network,
    new ExactEvmScheme(),
  );
  const { pathname, port } = new URL(resource.url);
  const app = new Hono();
  app.use(
    paymentMiddleware(
      {
        [`GET ${pathname}`]: {
          accepts: {
            scheme: "exact",
            network: chain.network,
            payTo: usdc.payTo,
            maxTimeoutSeconds: resource.maxTimeoutSeconds,
            price: {
              amount: "10000",
              asset: usdc.contract,
              extra: { name: usdc.domain.name, version: usdc.domain.version },
            },
          },
          resource: resource.url,
          description: "Tomorrow's weather in Lisbon",
          mimeType: "application/json",
        },
      },
      server,
    ),
  );
  app.get(pathname, (c) => c.json({ city: "Lisbon", sky: "clear", celsius: 21 }));
  return new Promise((resolve) => {
    const listening: ServerType = serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" }, () =>
      resolve({ close: () => listening.close() }),
    );
  });
}

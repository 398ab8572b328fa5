/** A shop: it takes orders, asks Farebox for their payment, and ships when a webhook says that one is paid. */
import { type ServerType, serve } from "@hono/node-server";
import { Hono } from "hono";
import { Webhook } from "standardwebhooks";
import type { Deployment } from "../demo/deployment.ts";
import { merchantOf, type Position } from "../payments/merchant.ts";

interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: {
    readonly object: { readonly paymentIntent: { readonly id: string; readonly status: string } };
  };
}
export interface Shop {
  /** Sells something: how it is to be paid. */
  order(item: string, price: string): Promise<Position>;
  /** Everything that was shipped, in its order. */
  readonly shipped: readonly string[];
  /** Deliveries that were taken, repeated ones included. */
  readonly taken: () => number;
  /** The endpoint that Farebox tells. */
  readonly endpointId: string;
  close(): void;
}

/** Registers the shop's webhook endpoint, which is where its secret comes from, and begins to listen. */
export async function openShop(deployment: Deployment, port: number): Promise<Shop> {
  const merchant = merchantOf(deployment);
  const endpoint = await register(deployment, `http://127.0.0.1:${port}/webhooks`);
  const webhook = new Webhook(endpoint.secret);
  // A real shop keeps these three in its database, the second and third written in one transaction.
  const orders = new Map<string, string>();
  const handled = new Set<string>();
  const shipped: string[] = [];
  let taken = 0;

  function handle({ id, type, data }: PaymentEvent): void {
    if (handled.has(id)) return; // the same event may come twice
    handled.add(id);
    const item = orders.get(data.object.paymentIntent.id);
    if (type === "payment.completed" && item !== undefined) shipped.push(item);
  }

  const app = new Hono();
  app.post("/webhooks", async (c) => {
    const body = await c.req.text(); // as it came: the signature is over these bytes
    let event: PaymentEvent;
    try {
      event = webhook.verify(body, c.req.header()) as PaymentEvent;
    } catch {
      return c.body(null, 401);
    }
    taken += 1;
    handle(event);
    return c.body(null, 204);
  });
  const server = await listen(app, port);
  return {
    async order(item, price) {
      const id = await merchant.createIntent({ amount: price, asset: "USD" }, "deposit-match");
      orders.set(id, item);
      return merchant.confirm(id);
    },
    shipped,
    taken: () => taken,
    endpointId: endpoint.id,
    close: () => void server.close(),
  };
}

async function register(
  { baseUrl, secretKey }: Deployment,
  url: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const response = await fetch(`${baseUrl}/v1/webhook-endpoints`, {
    method: "POST",
    headers: { Authorization: `Bearer ${secretKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ url, events: ["payment.*"], description: "The shop's orders" }),
  });
  if (!response.ok) throw new Error(`the endpoint: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string; secret: string };
}

function listen(app: Hono, port: number): Promise<ServerType> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () => resolve(server));
  });
}

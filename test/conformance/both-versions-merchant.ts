/** A merchant's server that sells one URL to v1 and v2 clients alike: v2 in the header of its 402, a pure v1 object in
 *  the body. It knows no x402 package; all it asks of is our facilitator's HTTP. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";

interface Rail {
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly scheme: string;
  readonly extra: Record<string, unknown>;
}
export interface BothVersionsMerchant {
  readonly url: string;
  delivered(): number;
  close(): Promise<void>;
}

/** `facilitatorUrl` may be the base of the resource or the one for all; `lookUpUrl` is the resource's `payment-required`. */
export async function serveBothVersions({
  facilitatorUrl,
  lookUpUrl,
  v1Network,
}: {
  readonly facilitatorUrl: string;
  readonly lookUpUrl: string;
  readonly v1Network: string;
}): Promise<BothVersionsMerchant> {
  const lookUp = await fetch(lookUpUrl);
  const header = lookUp.headers.get("PAYMENT-REQUIRED") ?? "";
  const required = (await lookUp.json()) as {
    resource: { url: string; description: string; mimeType: string };
    accepts: readonly Rail[];
  };
  const v1Accepts = required.accepts.map((rail) => v1Option(rail, required.resource, v1Network));
  let delivered = 0;

  const challenge = (c: Context, error: string) =>
    c.json({ x402Version: 1, error, accepts: v1Accepts }, 402, { "PAYMENT-REQUIRED": header });

  async function sell(c: Context, version: 1 | 2, payment: string, requirements: unknown) {
    const paymentPayload = JSON.parse(Buffer.from(payment, "base64").toString("utf8")) as unknown;
    const body = { x402Version: version, paymentPayload, paymentRequirements: requirements };
    const verdict = await ask<{ isValid: boolean; invalidReason?: string }>(`${facilitatorUrl}/verify`, body);
    if (!verdict.isValid) return challenge(c, verdict.invalidReason ?? "");
    const answer = await ask<{ success: boolean }>(`${facilitatorUrl}/settle`, body);
    const receipt = { [responseHeader[version]]: Buffer.from(JSON.stringify(answer)).toString("base64") };
    if (!answer.success) return c.json({}, 402, receipt);
    delivered += 1;
    return c.json({ content: "the thing" }, 200, receipt);
  }

  const app = new Hono();
  app.get("/thing", (c) => {
    const v2 = c.req.header("PAYMENT-SIGNATURE");
    if (v2 !== undefined) return sell(c, 2, v2, required.accepts[0]);
    const v1 = c.req.header("X-PAYMENT");
    return v1 === undefined ? challenge(c, "payment required") : sell(c, 1, v1, v1Accepts[0]);
  });
  const listening = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(server));
  });
  return {
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/thing`,
    delivered: () => delivered,
    close: () =>
      new Promise((resolve) => {
        listening.close(() => resolve());
        if ("closeAllConnections" in listening) listening.closeAllConnections();
      }),
  };
}

const responseHeader = { 1: "X-PAYMENT-RESPONSE", 2: "PAYMENT-RESPONSE" } as const;

/** An option in v1's words: the price under another name, and what v2 says of the resource inside each option. */
export function v1Option(
  { scheme, amount, asset, payTo, maxTimeoutSeconds, extra }: Rail,
  resource: { readonly url: string; readonly description: string; readonly mimeType: string },
  network: string,
) {
  return {
    scheme,
    network,
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description,
    mimeType: resource.mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra: { name: extra.name, version: extra.version },
  };
}

async function ask<T>(url: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as T;
}

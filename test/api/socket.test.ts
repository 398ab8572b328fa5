import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { SettleError } from "@x402/core/types";
import { withBazaar } from "@x402/extensions/bazaar";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checksum } from "#kernel/bytes";
import {
  fakeFacilitator,
  offer,
  payer,
  paymentId,
  resourceId,
  settledAnswer,
  txHash,
  v2Body,
  world,
} from "./world.ts";

const one = `/x402/resources/${resourceId}`;
let server: ServerType | undefined;
afterEach(() => server?.close());

async function listen(facilitator = fakeFacilitator()) {
  const { app } = world({ facilitator });
  const { port } = await new Promise<{ port: number }>((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, resolve);
  });
  return { port, base: `http://127.0.0.1:${port}`, facilitator };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

async function raw(port: number, text: string): Promise<string> {
  const socket = await open(port);
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString("utf8");
  });
  socket.write(text);
  await once(socket, "end");
  return answer;
}

function request(path: string, headers: readonly string[], body = ""): string {
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const method = body === "" ? "GET" : "POST";
  return [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers, ...length, "", body].join(
    "\r\n",
  );
}

describe("headers that come twice", () => {
  it.each(["PAYMENT-SIGNATURE", "X-PAYMENT"])(
    "400: two of %s at an agent URL, and nothing is settled",
    async (name) => {
      const { port, facilitator } = await listen();
      facilitator.offer = async () => offer;
      const payment = `${name}: ${Buffer.from(JSON.stringify(v2Body.paymentPayload)).toString("base64")}`;
      const path = "/x402/payables/inv_01K2C0Z0000000000000000000";
      const answer = await raw(port, request(path, [payment, payment]));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"duplicate_header"');
      expect(answer).toContain(`The header ${name} may be sent once.`);
      expect(facilitator.asked).toEqual([]);
    },
  );

  it("400: two Authorization headers, which a joined value would hide", async () => {
    const { port } = await listen();
    const answer = await raw(
      port,
      request("/v1/x402/resources", ["Authorization: Bearer a", "Authorization: Bearer b"]),
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"duplicate_header"');
  });

  it("400: two Idempotency-Key headers on settle, with the typed fields; nothing is asked", async () => {
    const { port, facilitator } = await listen();
    const headers = ["Content-Type: application/json", "Idempotency-Key: a", "idempotency-key: b"];
    const answer = await raw(port, request(`${one}/settle`, headers, JSON.stringify(v2Body)));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"idempotency_key_invalid"');
    expect(answer).toContain('"success":false');
    expect(facilitator.asked).toEqual([]);
  });
});

describe("a body of unannounced length", () => {
  it("413 once it is above the limit", async () => {
    const { base, facilitator } = await listen();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(8_192))),
    });
    const response = await fetch(`${base}${one}/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: endless,
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "body_too_large", isValid: false });
    expect(facilitator.asked).toEqual([]);
  });
});

describe("a caller who goes away", () => {
  it("before the settlement ends: the engine is told, and the success is taken back", async () => {
    const facilitator = fakeFacilitator();
    const engine = new EventEmitter();
    const begun = once(engine, "asked");
    facilitator.settlement = async (closed) => {
      engine.emit("asked");
      if (!closed.aborted) await once(closed, "abort");
      return settledAnswer;
    };
    const { port } = await listen(facilitator);
    const socket = await open(port);
    socket.write(request(`${one}/settle`, ["Content-Type: application/json"], JSON.stringify(v2Body)));
    await begun;
    socket.destroy();
    await vi.waitFor(() => expect(facilitator.released).toEqual([paymentId]));
  });

  it("after the answer has gone out keeps the success", async () => {
    const { base, facilitator } = await listen();
    const response = await fetch(`${base}${one}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify(v2Body),
    });
    expect(await response.json()).toMatchObject({ success: true });
    await new Promise((resolve) => server?.close(resolve));
    expect(facilitator.released).toEqual([]);
  });
});

describe("the stock facilitator client", () => {
  const requirements = v2Body.paymentRequirements as never;
  const payload = v2Body.paymentPayload as never;

  it("verifies, settles and reads what is supported on both bases", async () => {
    const { base } = await listen();
    for (const url of [`${base}${one}`, `${base}/x402/`]) {
      const client = new HTTPFacilitatorClient({ url });
      expect((await client.getSupported()).kinds).toContainEqual({
        x402Version: 2,
        scheme: "exact",
        network: "eip155:8453",
      });
      expect(await client.verify(payload, requirements)).toEqual({ isValid: true, payer: checksum(payer) });
      expect(await client.settle(payload, requirements)).toMatchObject({
        success: true,
        transaction: txHash,
        network: "eip155:8453",
      });
    }
  });

  it("gets a typed error for a second settle, with the original transaction", async () => {
    const facilitator = fakeFacilitator();
    facilitator.settlement = async () => ({
      ...settledAnswer,
      outcome: "duplicate",
      reason: "duplicate_settlement",
      message: "before",
    });
    const { base } = await listen(facilitator);
    const client = new HTTPFacilitatorClient({ url: `${base}${one}` });
    const refused = await client.settle(payload, requirements).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SettleError);
    expect(refused).toMatchObject({
      statusCode: 409,
      errorReason: "duplicate_settlement",
      transaction: txHash,
      network: "eip155:8453",
    });
  });

  it("gets a typed error where the answer is problem details", async () => {
    const facilitator = fakeFacilitator();
    facilitator.settlement = async () => ({
      ...settledAnswer,
      outcome: "unavailable",
      reason: "unexpected_settle_error",
      message: null,
    });
    const { base } = await listen(facilitator);
    const client = new HTTPFacilitatorClient({ url: `${base}${one}` });
    await expect(client.settle(payload, requirements)).rejects.toMatchObject({
      statusCode: 503,
      errorReason: "unexpected_settle_error",
    });
    const nobody = new HTTPFacilitatorClient({ url: `${base}/x402/resources/nonsense` });
    await expect(nobody.verify(payload, requirements)).rejects.toMatchObject({
      statusCode: 404,
      invalidReason: "invalid_payment_requirements",
    });
  });

  it("lists and searches the index", async () => {
    const { base } = await listen();
    const client = withBazaar(new HTTPFacilitatorClient({ url: `${base}/x402` }));
    const listed = await client.extensions.bazaar.listResources({ limit: 5 });
    expect(listed.items.map(({ resource }) => resource)).toEqual(["https://api.m.example/weather"]);
    const found = await client.extensions.bazaar.search({ query: "weather" });
    expect(found.resources).toHaveLength(1);
  });
});

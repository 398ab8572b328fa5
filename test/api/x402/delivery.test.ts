/** A caller who has hung up before the engine is asked. */
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { afterEach, expect, it, vi } from "vitest";
import { fakeFacilitator, offer, paymentId, settledAnswer, v2Body, world } from "../world.ts";

let server: ServerType | undefined;
afterEach(() => server?.close());

it("an agent URL takes a success back whose caller was gone before the engine was asked", async () => {
  const facilitator = fakeFacilitator();
  const engine = new EventEmitter();
  const begun = once(engine, "looked");
  const settled = once(engine, "settled");
  const gone = once(engine, "gone");
  let wasClosed: boolean | null = null;
  facilitator.offer = async () => {
    engine.emit("looked");
    await gone;
    return offer;
  };
  facilitator.settlement = async (closed) => {
    wasClosed = closed.aborted;
    engine.emit("settled");
    return settledAnswer;
  };
  const { app } = world({ facilitator });
  const { port } = await new Promise<{ port: number }>((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, resolve);
    server.on("connection", (socket: Socket) => socket.once("close", () => engine.emit("gone")));
  });
  const payment = Buffer.from(JSON.stringify(v2Body.paymentPayload)).toString("base64");
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    [
      "GET /x402/payables/inv_01K2C0Z0000000000000000000 HTTP/1.1",
      "Host: x",
      `PAYMENT-SIGNATURE: ${payment}`,
      "",
      "",
    ].join("\r\n"),
  );
  await begun;
  socket.destroy();
  await settled;
  expect(wasClosed).toBe(true);
  await vi.waitFor(() => expect(facilitator.released).toEqual([paymentId]));
});

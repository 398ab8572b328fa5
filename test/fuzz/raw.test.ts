import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { fireRaw } from "./raw.ts";

test("a server that resets connections has answered nothing, and the run goes on", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.resetAndDestroy())).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  try {
    const answers = await fireRaw(`http://127.0.0.1:${address.port}`, { count: 20, seed: 1 });
    expect(answers).toEqual(new Map([["nothing", 20]]));
  } finally {
    server.close();
  }
});

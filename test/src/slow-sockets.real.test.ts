/** Callers who send as slowly as they can, to keep connections for themselves. */
import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { type Listening, serve } from "../../src/serve.ts";

let listening: Listening;
beforeAll(async () => {
  const app = new Hono();
  app.post("/", async (context) => context.text(await context.req.text()));
  app.get("/", (context) => context.text("hello"));
  listening = await serve({ app } as unknown as House, await freePort());
});
afterAll(() => listening.close());

/** Sends `start`, then a byte each second; resolves with the answer and the time when the server has ended it. */
async function drip(
  start: string,
  byte: string,
): Promise<{ readonly answer: string; readonly seconds: number }> {
  const socket = connect(listening.port, "127.0.0.1");
  await once(socket, "connect");
  const began = performance.now();
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString("utf8");
  });
  socket.on("error", () => undefined);
  socket.write(start);
  const slowly = setInterval(() => socket.write(byte), 1_000);
  await once(socket, "close");
  clearInterval(slowly);
  return { answer, seconds: (performance.now() - began) / 1_000 };
}

describe("a caller who sends a byte a second", () => {
  it("is cut off: in the headers after ten seconds, in the body after twenty; others are served meanwhile", async () => {
    const headers = drip("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a");
    const body = drip("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "a");
    expect(await (await fetch(`http://127.0.0.1:${listening.port}/`)).text()).toBe("hello");
    for (const [slow, least] of [
      [await headers, 9],
      [await body, 19],
    ] as const) {
      expect(slow.answer).toMatch(/^HTTP\/1.1 408 /);
      expect(slow.seconds).toBeGreaterThan(least);
      expect(slow.seconds).toBeLessThan(least + 10);
    }
  });
});

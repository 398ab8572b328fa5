/** A merchant's server that takes webhooks: keeps what came and answers as a test wants. Signatures are checked by the
 *  stock verifier. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
}
type Answer = (response: ServerResponse, got: Received) => void;

const accept: Answer = (response) => void response.writeHead(200).end("taken");

export async function receiveWebhooks() {
  const got: Received[] = [];
  let answer = accept;
  let now = 0;
  let most = 0;
  const server = createServer(async (request: IncomingMessage, response) => {
    now += 1;
    most = Math.max(most, now);
    response.on("close", () => {
      now -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const received = { headers, body: Buffer.concat(chunks).toString("utf8"), atMs: performance.now() };
    got.push(received);
    answer(response, received);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    got,
    /** Requests that were open at the same time. */
    mostAtOnce: () => most,
    answerWith(next: Answer | number) {
      answer = typeof next === "function" ? next : (response) => void response.writeHead(next).end();
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type Receiver = Awaited<ReturnType<typeof receiveWebhooks>>;

export const eventOf = ({ body }: Received) => JSON.parse(body);

/** What the stock verifier says with this secret. */
export function verified({ headers, body }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, { ...headers });
}

/** Listens where a provider calls back, and keeps what it got. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Callback {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function listenForCallbacks() {
  const got: Callback[] = [];
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    got.push({ path: request.url ?? "", headers, body: Buffer.concat(chunks).toString("utf8") });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    got,
    /** What the next calls are answered with; 200 after that. */
    answerWith: (...next: readonly number[]) => void statuses.push(...next),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

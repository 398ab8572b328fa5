/** A merchant's endpoint that answers whatever a test wants, and its host's well-known document. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Endpoint {
  readonly origin: string;
  readonly url: string;
  /** Status and `PAYMENT-REQUIRED` of every answer from now on. */
  answer: { status: number; challenge?: string | undefined };
  wellKnown: unknown;
  /** Set while the host is not well enough to say. */
  wellKnownFails?: boolean;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
  }[];
  close(): Promise<void>;
}

export async function serveEndpoint(path = "/weather"): Promise<Endpoint> {
  const requests: Endpoint["requests"] = [];
  const server = createServer((request, response) => {
    const at = request.url ?? "";
    requests.push({ method: request.method ?? "", path: at, headers: request.headers });
    if (at === "/.well-known/x402")
      return void response
        .writeHead(endpoint.wellKnownFails ? 503 : endpoint.wellKnown === null ? 404 : 200)
        .end(JSON.stringify(endpoint.wellKnown));
    const { status, challenge } = endpoint.answer;
    response.writeHead(status, challenge === undefined ? {} : { "PAYMENT-REQUIRED": challenge }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint: Endpoint = {
    origin,
    url: `${origin}${path}`,
    answer: { status: 200 },
    wellKnown: null,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return endpoint;
}

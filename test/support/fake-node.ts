/** A JSON-RPC endpoint that says what the test wants, over real HTTP. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface NodeAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** Another HTTP status than 200, with this body instead of JSON-RPC. */
  readonly http?: { readonly status: number; readonly body: string };
}
/** What it answers; a promise that never settles is an endpoint that hangs. */
export type Script = (method: string, params: readonly unknown[]) => NodeAnswer | Promise<NodeAnswer>;

export interface FakeNode {
  readonly url: string;
  /** Methods it was asked, in order. */
  readonly asked: string[];
  /** The `Authorization` of each request that had one. */
  readonly authorized: string[];
  stop(): Promise<void>;
}

export async function startFakeNode(script: Script): Promise<FakeNode> {
  const asked: string[] = [];
  const authorized: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.authorization) authorized.push(request.headers.authorization);
    void answer(request, response, asked, script);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    authorized,
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  asked: string[],
  script: Script,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  asked.push(method);
  const said = await Promise.resolve()
    .then(() => script(method, params ?? []))
    .catch((error: Error) => ({ error: { code: -32000, message: error.message } }));
  const { http, ...reply } = said as NodeAnswer;
  response.writeHead(http?.status ?? 200, { "content-type": "application/json" });
  response.end(http?.body ?? JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
}

/** An endpoint of a real chain that can be made to lie or fail: stands between the service and the node, over HTTP. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}
/** What a node answers, without the frame. */
export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
/** What it does with one call instead of answering as the node does. `real` asks the node. */
export type RpcFault = (
  call: Call,
  real: () => Promise<Reply>,
  response: ServerResponse,
) => Promise<Reply | "answered">;

export interface RpcProxy {
  readonly url: string;
  /** From now on, until it is set otherwise. */
  set(fault: RpcFault): void;
  clear(): void;
  stop(): Promise<void>;
}

const honest: RpcFault = (_, real) => real();

export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  let fault = honest;
  const server = createServer((request, response) => {
    void serve(nodeUrl, fault, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(next) {
      fault = next;
    },
    clear() {
      fault = honest;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function serve(nodeUrl: string, fault: RpcFault, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { id, method, params } = JSON.parse(body.toString("utf8"));
  const real = async (): Promise<Reply> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(nodeUrl, { method: "POST", headers, body });
    return (await answer.json()) as Reply;
  };
  const reply = await fault({ method, params: params ?? [] }, real, response);
  if (reply === "answered") return;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...reply, jsonrpc: "2.0", id }));
}

/** Answers with this status and body. */
export const says =
  (status: number, body: string): RpcFault =>
  async (_, _real, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
    return "answered";
  };

/** Changes what the node says to some methods. */
export const altering =
  (methods: readonly string[], change: (result: never, call: Call) => unknown): RpcFault =>
  async (call, real) => {
    const reply = await real();
    if (!methods.includes(call.method) || !("result" in reply)) return reply;
    return { ...reply, result: change(reply.result as never, call) };
  };

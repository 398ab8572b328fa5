/** Stands between a facilitator and its chain node and passes everything on, until it is told to lie. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}
export interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}
/** What is answered in place of the node's own answer. */
export type Lie = (call: Call, truth: Reply) => Reply;

export interface LyingNode {
  readonly url: string;
  /** Lies while `during` runs. */
  lying<T>(lie: Lie, during: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export async function startLyingNode(rpcUrl: string): Promise<LyingNode> {
  let lie: Lie | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call | readonly Call[];
    const calls = [asked].flat() as readonly Call[];
    try {
      const answer = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(calls),
      });
      const truths = (await answer.json()) as readonly Reply[];
      const replies = truths.map((truth) => {
        const call = calls.find(({ id }) => id === truth.id);
        return lie && call ? { jsonrpc: "2.0", id: call.id, ...lie(call, truth) } : truth;
      });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(Array.isArray(asked) ? replies : replies[0]));
    } catch {
      response.writeHead(502).end(); // the node is gone, as at the end of a run
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async lying(told, during) {
      lie = told;
      try {
        return await during();
      } finally {
        lie = null;
      }
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Facilitators that are wrong on purpose: one that agrees to everything, one that refuses everything. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Stub {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startStub(says: boolean): Promise<Stub> {
  const transaction = says ? `0x${"00".repeat(32)}` : "";
  const server = createServer((request, response) => {
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ isValid: says, success: says, transaction, network: "eip155:31337" }));
    });
    request.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A wire between a client and PostgreSQL that can be cut or fall silent. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { atPort } from "../../support/database-at.ts";

export interface Proxy {
  /** The database's URL, through the wire. */
  readonly url: string;
  /** Cuts the connection that next sends `text`: before the server hears it, or before the client hears the answer. */
  cutAt(text: string, when: "unheard" | "unanswered"): void;
  /** From the next query with `text` on, that connection carries nothing in either direction and stays open. */
  silenceAt(text: string): void;
  stop(): Promise<void>;
}

type Plan = { readonly text: string; readonly how: "unheard" | "unanswered" | "silent" } | null;

export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let plan: Plan = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const both = [client, upstream];
    const cut = () => both.forEach((socket) => void socket.destroy());
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", cut).on("close", cut);
    }
    let struck: Plan = null;
    client.on("data", (data) => {
      if (!struck && plan && data.includes(plan.text)) {
        struck = plan;
        plan = null;
      }
      if (struck?.how === "unheard") cut();
      else if (struck?.how !== "silent") upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (struck?.how === "unanswered") cut();
      else if (struck?.how !== "silent") client.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: atPort(databaseUrl, (server.address() as AddressInfo).port),
    cutAt: (text, how) => {
      plan = { text, how };
    },
    silenceAt: (text) => {
      plan = { text, how: "silent" };
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

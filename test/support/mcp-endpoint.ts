/** A merchant's MCP server, made of the stock SDK: one session each, answers as events, and its host's well-known
 *  document. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

export interface McpEndpoint {
  readonly url: string;
  wellKnown: unknown;
  /** What clients sent, by method of HTTP and of JSON-RPC. */
  readonly requests: string[];
  /** Sessions that were opened and not ended. */
  readonly open: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function serveMcp(registerTools: (server: McpServer) => void): Promise<McpEndpoint> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const requests: string[] = [];
  const open = new Set<string>();

  async function newSession(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: "shop", version: "1.0.0" });
    registerTools(server);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        sessions.set(id, transport);
        open.add(id);
      },
      onsessionclosed: (id) => void open.delete(id),
    });
    await server.connect(transport as unknown as Parameters<McpServer["connect"]>[0]);
    return transport;
  }

  const server = createServer(async (request, response) => {
    if (request.url === "/.well-known/x402")
      return void response
        .writeHead(endpoint.wellKnown === null ? 404 : 200)
        .end(JSON.stringify(endpoint.wellKnown));
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    await answer(request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    requests.push(`${request.method} ${body?.method ?? ""}`.trim());
    const session = sessions.get(String(request.headers["mcp-session-id"]));
    await (session ?? (await newSession())).handleRequest(request, response, body);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: McpEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    wellKnown: null,
    requests,
    open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return endpoint;
}

async function bodyOf(request: IncomingMessage): Promise<{ readonly method?: string } | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** The result by which the stock wrapper of tools asks for money. */
export function askingFor(required: object) {
  return {
    isError: true,
    structuredContent: required as Record<string, unknown>,
    content: [{ type: "text" as const, text: JSON.stringify(required) }],
  };
}

/** The MCP server over a facilitator that is made up, and calls as its clients send them. */
import { fixedRates, paymentCodec, quoter } from "#api";
import { type Caller, createMcp } from "#mcp";
import { baseUrl, clock, fakeFacilitator, recordingLog } from "../api/world.ts";

export const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
export const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list" };
export const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
};

export function open(
  changes: { facilitator?: Parameters<typeof fakeFacilitator>[0]; origins?: string[] } = {},
) {
  const facilitator = fakeFacilitator(changes.facilitator);
  const log = recordingLog();
  const mcp = createMcp({
    facilitator,
    wire: paymentCodec({ facilitator, baseUrl }),
    quote: quoter({ facilitator, rates: fixedRates({ clock, log }) }),
    derive: async () => null,
    config: { baseUrl, version: "0.0.0", allowedOrigins: changes.origins },
    clock,
    log,
  });
  const ask = async (body: unknown, headers: Record<string, string> = {}, caller?: Caller) => {
    const response = await mcp.handler(
      new Request(`${baseUrl}/x402/mcp`, {
        method: "POST",
        headers: { host: "pay.example", "content-type": "application/json", ...headers },
        body:
          typeof body === "string" || body instanceof Uint8Array ? new Blob([body]) : JSON.stringify(body),
      }),
      caller,
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text), text };
  };
  return { mcp, ask, log, facilitator };
}

export const call = (name: string, args: unknown = {}) => ({
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name, arguments: args },
});

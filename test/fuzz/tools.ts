import type { Tool } from "./agents.ts";

/** What the MCP endpoint offers, as it says itself. */
export async function toolsOf(baseUrl: string): Promise<readonly Tool[]> {
  const response = await fetch(`${baseUrl}/x402/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  const { result } = (await response.json()) as { result?: { tools: readonly Tool[] } };
  if (!result) throw new Error("the MCP endpoint lists no tools");
  return result.tools;
}

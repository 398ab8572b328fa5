import type { Payable } from "./payable.ts";

/** How a resource is called, as its bazaar block says: over HTTP, or as a tool of an MCP server. */
export type ResourceType = "http" | "mcp";

/** `http` where no block says otherwise. Source: agents.md §6.2, §6.3. */
export function resourceType({ extensions }: Pick<Payable, "extensions">): ResourceType {
  const input = memberOf(memberOf(memberOf(extensions, "bazaar"), "info"), "input");
  return memberOf(input, "type") === "mcp" ? "mcp" : "http";
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

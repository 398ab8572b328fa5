import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { errorFields } from "#kernel/log";
import type { Call, Caller, McpDeps, Members } from "./deps.ts";
import { instructions } from "./instructions.ts";
import { registerPrompt } from "./prompt.ts";
import { registerResources } from "./resources.ts";
import { failure, fromError, rateLimited, type ToolResult } from "./result.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools/index.ts";
import { X402_EXTENSION } from "./tools/pay-payable.ts";

/** Lists are the same for everybody and change with a release only. */
const LISTED = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** A server for one request: sharing one leaks between callers. What is dear, the schemas, is made once. */
export function serverFor(deps: McpDeps, caller: Caller, headers: Headers): McpServer {
  const server = new McpServer(
    { name: "farebox", title: "Farebox", version: deps.config.version },
    {
      instructions,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
        extensions: { [X402_EXTENSION]: {} },
      },
      cacheHints: {
        "tools/list": LISTED,
        "resources/list": LISTED,
        "resources/templates/list": LISTED,
        "prompts/list": LISTED,
        "server/discover": LISTED,
      },
    },
  );
  for (const { tool, config } of published)
    server.registerTool(tool.name, config, async (input, { mcpReq }) => {
      const capabilities = membersOf(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY];
      const call = {
        ...deps,
        caller,
        requestId: caller.newRequestId(),
        headers,
        meta: membersOf(mcpReq._meta),
        clientExtensions: membersOf(membersOf(capabilities).extensions),
      };
      return guarded(tool, call, input);
    });
  registerResources(server, deps);
  registerPrompt(server);
  return server;
}

/** Counts the call, checks its arguments and treats it; nothing is thrown out of here. */
async function guarded(tool: Tool, call: Call, input: unknown): Promise<Mutable<ToolResult>> {
  try {
    const seconds = await call.caller.limit(tool.rate);
    if (seconds !== null) return rateLimited(seconds);
    const parsed = tool.input.safeParse(input ?? {});
    if (!parsed.success)
      return failure("invalid_arguments", `${explain(parsed.error)} Correct it and call again.`);
    return await tool.run(call, parsed.data);
  } catch (error) {
    const fields = { requestId: call.requestId, tool: tool.name, ...errorFields(error) };
    call.log.warn(fields, "a tool call failed");
    return fromError(error);
  }
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Names the field. What was sent stands in none of it: a model may read this. */
function explain({ issues }: z.ZodError): string {
  return issues
    .flatMap(asMeant)
    .slice(0, 5)
    .map((issue) => {
      const at = issue.path.map(String).join(".");
      if (issue.code === "unrecognized_keys")
        return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.slice(0, 5).map(named).join(", ")}.`;
      if (at === "") return `${issue.message}.`;
      return `${named(at)}: ${isMissing(issue) ? "it is missing" : issue.message}.`;
    })
    .join(" ");
}

/** Of what may be written in two ways, what is wrong in the way that was meant: the one that was read further. */
function asMeant(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  const ways = issue.code === "invalid_union" ? issue.errors : [];
  const meant = ways.find((way) => way.some(({ path }) => path.length > 0)) ?? [];
  return meant.length === 0
    ? [issue]
    : meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
}

/** In JSON nothing is undefined: what is said to be is not there. */
function isMissing(issue: z.core.$ZodIssue): boolean {
  if (issue.code === "invalid_union") return issue.errors.every((way) => way.every(isMissing));
  return issue.code === "invalid_type" && issue.message.endsWith("received undefined");
}

function named(key: string): string {
  return /^[\w.$-]{1,60}$/.test(key) ? key : "(a key with other characters)";
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

const published = tools.map((tool) => ({
  tool,
  config: {
    title: tool.title,
    description: tool.description,
    inputSchema: shown(tool.input, "input"),
    ...(tool.output ? { outputSchema: shown(tool.output, "output") } : {}),
    annotations: {
      title: tool.title,
      openWorldHint: true,
      ...(tool.effect === "reads"
        ? { readOnlyHint: true }
        : { readOnlyHint: false, destructiveHint: true, idempotentHint: true }),
    },
  },
}));

/** The tool list as every client sees it; its hash makes a silent change visible. */
export const toolList = published.map(({ tool, config }) => ({
  name: tool.name,
  description: config.description,
  inputSchema: jsonSchema(tool.input, "input"),
  outputSchema: tool.output ? jsonSchema(tool.output, "output") : null,
  annotations: config.annotations,
}));

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io });
  return brief(rest) as Record<string, unknown>;
}

/** Without the words that say nothing: every client reads the list, and pays for each of them. */
function brief(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(brief);
  if (typeof node !== "object" || node === null) return node;
  const isSaying = ([key, value]: [string, unknown]) =>
    !(Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER && /^(?:min|max)imum$/.test(key)) &&
    !(["additionalProperties", "properties"].includes(key) && JSON.stringify(value) === "{}");
  return Object.fromEntries(
    Object.entries(node)
      .filter(isSaying)
      .map(([key, value]) => [key, brief(value)]),
  );
}

/** The JSON form of a schema, made once and without the check: arguments are checked by `guarded`, in our own words,
 *  and answers by tests. */
function shown(schema: z.ZodType, io: "input" | "output"): StandardSchemaWithJSON {
  const json = jsonSchema(schema, io);
  return {
    "~standard": {
      version: 1,
      vendor: "farebox",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

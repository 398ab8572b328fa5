import type { CallToolResult, FetchLike } from "@modelcontextprotocol/client";
import { type FetchProblem, probeLimits, type SafeFetch } from "../http/safe-fetch.ts";

/** A connection to somebody's MCP server, by the client that agents have. */
export interface McpSession {
  /** Null where the server does not list the tool. */
  find(toolName: string): Promise<ListedTool | null>;
  call(toolName: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}
export interface ListedTool {
  /** The server says that a call changes nothing. */
  readonly isReadOnly: boolean;
}
export type ToolAnswer = Pick<CallToolResult, "structuredContent" | "content" | "isError" | "_meta"> & {
  /** Of the JSON-RPC error that came in place of a result. */
  readonly code?: number;
};

/** Why there was no answer of an MCP server. */
export type Failure =
  | { readonly why: "unanswered"; readonly problem: FetchProblem }
  | { readonly why: "refused"; readonly status: number }
  | { readonly why: "too-long"; readonly status: number }
  | { readonly why: "not-mcp"; readonly status: number | null };
export class McpFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.why);
    this.failure = failure;
  }
}

const WITHIN_MS = probeLimits.totalMs;
/** The farewell is sent after the time is up as well: servers keep sessions of whoever leaves without one. */
const FAREWELL_MS = 1_000;
/** A server may ask its client things, each of which is one more request of ours. */
const MAX_REQUESTS = 12;
const MAX_PAGES = 4;

/** Opens a session, works with it and ends it, all within the time of a probe. Throws `McpFailure` for whatever the other
 *  side does. The client declares no capability, keeps no list and runs no schema of the server. */
export async function withMcp<T>(
  {
    fetch,
    url,
    stopping,
  }: { readonly fetch: SafeFetch; readonly url: string; readonly stopping?: AbortSignal },
  work: (session: McpSession) => Promise<T>,
): Promise<T> {
  // Three megabytes that most deployments need never: it comes with the first tool that is probed.
  const { Client, ProtocolError, StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/client"
  );
  const deadline = AbortSignal.timeout(WITHIN_MS);
  const signal = stopping ? AbortSignal.any([stopping, deadline]) : deadline;
  const wire: Wire = { fetch, signal, sent: 0, status: null, failure: null };
  const client = new Client({ name: "farebox-prober", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: over(wire),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const options = { signal, timeout: 2 * WITHIN_MS };
  try {
    await answered(wire, () => client.connect(transport, options));
    return await work({
      async find(toolName) {
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES; page += 1) {
          const params = cursor === undefined ? {} : { cursor };
          const list = await answered(wire, () => client.request({ method: "tools/list", params }, options));
          const tool = list.tools.find(({ name }) => name === toolName);
          if (tool) return { isReadOnly: tool.annotations?.readOnlyHint === true };
          cursor = list.nextCursor;
          if (cursor === undefined) break;
        }
        return null;
      },
      async call(name, args) {
        const params = { name, arguments: { ...args } };
        return answered(wire, () =>
          client.request({ method: "tools/call", params }, options).catch((error): ToolAnswer => {
            if (!(error instanceof ProtocolError)) throw error;
            return { isError: true, content: [], code: error.code };
          }),
        );
      },
    });
  } finally {
    await transport.terminateSession().catch(() => {});
    await client.close();
  }
}

/** What went over the wire for the request at hand. */
interface Wire {
  readonly fetch: SafeFetch;
  readonly signal: AbortSignal;
  sent: number;
  status: number | null;
  failure: Failure | null;
}

async function answered<T>(wire: Wire, ask: () => Promise<T>): Promise<T> {
  wire.failure = null;
  try {
    return await ask();
  } catch {
    if (wire.failure) throw new McpFailure(wire.failure);
    if (wire.signal.aborted) throw new McpFailure({ why: "unanswered", problem: "timeout" });
    throw new McpFailure({ why: "not-mcp", status: wire.status });
  }
}

/** The guarded way out, in the shape that the client asks through. */
function over(wire: Wire): FetchLike {
  return async (url, { method, headers, body } = {}) => {
    if (method === "DELETE") {
      const signal = AbortSignal.timeout(FAREWELL_MS);
      await wire.fetch(String(url), { method, headers: plain(headers), signal });
      return new Response(null, { status: 204 });
    }
    // A GET waits for what the server may want to say some day. 405 is how one says that there is no such stream.
    if (method !== "POST" || wire.sent >= MAX_REQUESTS) return new Response(null, { status: 405 });
    wire.sent += 1;
    const answer = await wire.fetch(String(url), {
      method,
      headers: plain(headers),
      body: String(body),
      signal: wire.signal,
    });
    wire.failure = failureOf(answer);
    if (!answer.ok || wire.failure) throw new Error("no answer of an MCP server");
    wire.status = answer.status;
    return new Response(
      answer.status === 204 || answer.status === 205 ? null : answer.body.toString("utf8"),
      {
        status: answer.status,
        headers: kept(answer.headers),
      },
    );
  };
}

/** A redirect ends it as well: the client would follow one. */
function failureOf(answer: Awaited<ReturnType<SafeFetch>>): Failure | null {
  if (!answer.ok) return { why: "unanswered", problem: answer.problem };
  const { status, body } = answer;
  if (status < 200 || status >= 300) return { why: "refused", status };
  return body.length >= probeLimits.maxBytes ? { why: "too-long", status } : null;
}

function plain(headers: ConstructorParameters<typeof Headers>[0]): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

/** All that the client needs to know of an answer besides its body. */
const READ = ["content-type", "mcp-session-id"];

function kept(headers: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    READ.flatMap((name) => {
      const value = headers.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

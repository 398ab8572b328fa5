import {
  createMcpHandler,
  isJSONRPCErrorResponse,
  isLegacyRequest,
  type JSONRPCMessage,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

/** Both protocol eras behind one URL: 2026-07-28, and the versions of 2025 and before, each request by itself. The only
 *  file that knows the difference. Source: agents.md §1.2. */
export interface Eras {
  /** `body` is the request's JSON, parsed; the request itself carries none. */
  serve(request: Request, body: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** Streams that clients may hold open to hear of changes; there are none to hear of. */
const MAX_SUBSCRIPTIONS = 8;

/** `serverFor` runs once per request. */
export function openEras(serverFor: (request: Request) => McpServer, onError: (error: Error) => void): Eras {
  const modern = createMcpHandler(({ requestInfo }) => serverFor(asRequest(requestInfo)), {
    legacy: "reject",
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: onError,
  });
  return {
    async serve(request, body) {
      const isOld = await isLegacyRequest(request, body);
      return isOld
        ? serveOld(serverFor(request), request, body)
        : modern.fetch(request, { parsedBody: body });
    },
    close: () => modern.close(),
  };
}

function asRequest(request: Request | undefined): Request {
  if (!request) throw new Error("an MCP exchange came without its request");
  return request;
}

/** The library's own old leg always streams and refuses callers who do not name both media types; this one answers
 *  with JSON whatever they accept. */
async function serveOld(server: McpServer, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(inOldCodes(message), options);
  await server.connect(transport);
  try {
    request.headers.set("accept", "application/json, text/event-stream");
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await transport.close();
    await server.close();
  }
}

/** The library says of a missing resource in both eras what 2026-07-28 does. Source: agents.md §1.1. */
function inOldCodes(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message)) return message;
  const { code, message: text, data } = message.error;
  const isMissing = ProtocolError.fromError(code, text, data) instanceof ResourceNotFoundError;
  return isMissing
    ? { ...message, error: { ...message.error, code: ProtocolErrorCode.ResourceNotFound } }
    : message;
}

import { Agent, request } from "undici";

export interface RawReply {
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
}
export type Post = (call: {
  readonly method: string;
  readonly params: readonly unknown[];
}) => Promise<RawReply>;

const TIMEOUT_MS = 5_000;
/** Far above a full block's logs. An endpoint that lies must not fill our memory. */
const MOST_BYTES = 10_485_760;

const connections = new Agent({ maxResponseSize: MOST_BYTES });

/** JSON-RPC over HTTP to one endpoint. User and password in its URL go as Basic authentication. Rejects when it stays
 *  silent, when its body does not end in time, and with a `status` when it refuses without an error of JSON-RPC. */
export function postTo(endpoint: string): Post {
  const { url, authorization } = withoutCredentials(endpoint);
  const headers = { "content-type": "application/json", ...authorization };
  return async ({ method, params }) => {
    const { statusCode, body } = await request(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      dispatcher: connections,
      signal: AbortSignal.timeout(TIMEOUT_MS), // of the whole exchange: a body that never ends would hold its caller
    });
    const text = await body.text();
    if (statusCode >= 200 && statusCode < 300) return JSON.parse(text);
    const refused = errorIn(text);
    if (refused) return refused;
    throw Object.assign(new Error("refused"), { name: "HttpRequestError", status: statusCode });
  };
}

/** Some nodes answer with an error of JSON-RPC below a status of HTTP; it says more. */
function errorIn(text: string): RawReply | null {
  try {
    const reply = JSON.parse(text) as RawReply | null;
    const { code, message } = reply?.error ?? {};
    return typeof code === "number" && typeof message === "string" ? reply : null;
  } catch {
    return null;
  }
}

function withoutCredentials(endpoint: string) {
  const url = new URL(endpoint);
  if (url.username === "") return { url, authorization: {} };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { url, authorization: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
}

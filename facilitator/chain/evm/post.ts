import { Agent, request } from "undici";
import { watchOwnWork } from "#kernel/own-work";

export interface RawReply {
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
}
export type Post = (call: {
  readonly method: string;
  readonly params: readonly unknown[];
}) => Promise<RawReply>;

const WITHIN_MS = 5_000;
/** So often an endpoint is given as long again, where this process was too busy to hear it. */
const MORE_TIMES = 3;
/** Far above a full block's logs. An endpoint that lies must not fill our memory. */
const MOST_BYTES = 10_485_760;

const connections = new Agent({ maxResponseSize: MOST_BYTES });

/** JSON-RPC over HTTP to one endpoint. User and password in its URL go as Basic authentication. Rejects when it stays
 *  silent, when its body does not end in time, and with a `status` when it refuses without an error of JSON-RPC. */
export function postTo(endpoint: string, withinMs = WITHIN_MS): Post {
  const { url, authorization } = withoutCredentials(endpoint);
  const headers = { "content-type": "application/json", ...authorization };
  return async ({ method, params }) => {
    const patience = limited(withinMs); // of the whole exchange: a body that never ends would hold its caller
    try {
      const { statusCode, body } = await request(url, {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        dispatcher: connections,
        signal: patience.signal,
      });
      const text = await body.text();
      if (statusCode >= 200 && statusCode < 300) return JSON.parse(text);
      const refused = errorIn(text);
      if (refused) return refused;
      throw Object.assign(new Error("refused"), { name: "HttpRequestError", status: statusCode });
    } finally {
      patience.end();
    }
  };
}

/** Aborts when an endpoint was silent for long, and this process was there to hear it. */
function limited(ms: number): { readonly signal: AbortSignal; end(): void } {
  const silent = new AbortController();
  let timer: NodeJS.Timeout;
  let timesLeft = MORE_TIMES;
  let hasEnded = false;
  const wait = () => {
    const wasBusy = watchOwnWork(ms);
    const look = () => {
      if (hasEnded) return;
      if (!wasBusy() || timesLeft === 0) return silent.abort(new DOMException("no answer", "TimeoutError"));
      timesLeft -= 1;
      wait();
    };
    timer = setTimeout(() => setImmediate(look), ms); // what has come is heard first
  };
  wait();
  return {
    signal: silent.signal,
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
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

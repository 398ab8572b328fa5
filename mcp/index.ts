/** The door of the MCP room: an adapter over the facilitator's door for programs. It never imports the HTTP room. */
import { isUtf8 } from "node:buffer";
import { Fault } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { serverCard } from "./card.ts";
import type { Caller, McpDeps, Members } from "./deps.ts";
import { type Eras, openEras } from "./eras.ts";
import { guardOf, MAX_BATCH, MAX_BODY_BYTES, rpcError } from "./guard.ts";
import { serverFor } from "./server.ts";
import { tools } from "./tools/index.ts";

export type { Caller, McpConfig, McpDeps, PaymentWire } from "./deps.ts";

/** A caller of whom nothing is known: nothing is counted, and the connection is taken to hold. */
const nobody = (): Caller => ({
  address: "unknown",
  newRequestId: () => "req_unknown",
  limit: async () => null,
  delivery: { closed: new AbortController().signal, orElse: () => {} },
});

/** `handler` answers `POST /x402/mcp` in both protocol eras, without keys and without state; `card` answers for the
 *  server card. Source: agents.md §1. */
export function createMcp(deps: McpDeps): {
  handler(request: Request, caller?: Caller): Promise<Response>;
  card(request: Request): Response;
  close(): Promise<void>;
} {
  const callers = new WeakMap<Request, Caller>();
  const eras = openEras(
    (request) => serverFor(deps, callers.get(request) ?? nobody(), request.headers),
    (error) => deps.log.info(errorFields(error), "an MCP request was refused or failed"),
  );
  const guard = guardOf(deps.config);
  const card = serverCard(deps.config);
  const listening = new Set<string>();
  return {
    async handler(request, caller = nobody()) {
      const refused = guard.refuse(request);
      if (refused) return refused;
      const exchange = { deps, eras, callers, listening, caller: manyUndos(caller) };
      return guard.admit(request, uncached(await answer(exchange, request)));
    },
    card,
    close: eras.close,
  };
}

interface Exchange {
  readonly deps: McpDeps;
  readonly eras: Eras;
  readonly callers: WeakMap<Request, Caller>;
  readonly listening: Set<string>;
  readonly caller: Caller;
}

async function answer(exchange: Exchange, request: Request): Promise<Response> {
  const { deps, eras, callers, caller } = exchange;
  const text = await readText(request);
  if (text instanceof Response) return text;
  let body: unknown;
  try {
    body = deps.wire.parse(text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return rpcError(400, -32700, `Parse error: ${error.detail}`);
  }
  if (Array.isArray(body) && body.length > MAX_BATCH)
    return rpcError(400, -32600, `A batch holds at most ${MAX_BATCH} messages.`);
  if (Array.isArray(body) && hasIdTwice(body))
    return rpcError(
      400,
      -32600,
      "Two messages of a batch have the same id: one of them would get no answer.",
    );
  const limited = await countRest(caller, body);
  if (limited) return limited;
  const release = isListening(body) ? admitListener(exchange) : null;
  if (release === "refused")
    return rpcError(429, -32603, "One subscription for each address. Nothing here changes at run time.");
  // Without its body, which is read, and with the end of the connection as its signal.
  const bare = new Request(request.url, {
    method: request.method,
    headers: request.headers,
    signal: caller.delivery.closed,
  });
  callers.set(bare, caller);
  const response = await eras.serve(bare, body);
  return release ? atEnd(response, release) : response;
}

async function readText(request: Request): Promise<string | Response> {
  const tooLarge = () => rpcError(413, -32000, `The body may have at most ${MAX_BODY_BYTES} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return tooLarge();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) return tooLarge();
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  return isUtf8(bytes)
    ? bytes.toString("utf8")
    : rpcError(400, -32700, "Parse error: the body is not UTF-8.");
}

function hasIdTwice(batch: readonly unknown[]): boolean {
  const ids = batch.map((message) => ((message ?? {}) as Members).id).filter((id) => id !== undefined);
  return new Set(ids).size < ids.length;
}

/** Counts what calls no tool, each message of a batch by itself: a tool counts its own calls. Beyond the limit nothing of
 *  the request is treated, so that all of it can be repeated. */
async function countRest(caller: Caller, body: unknown): Promise<Response | null> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (isToolCall(message)) continue;
    const seconds = await caller.limit("agent-request");
    if (seconds !== null)
      return rpcError(429, -32603, `Too many requests. Wait ${seconds} seconds, then repeat this one.`, {
        "Retry-After": String(seconds),
      });
  }
  return null;
}

/** A call of a tool that there is: of any other no tool keeps count. */
function isToolCall(message: unknown): boolean {
  const { method, params } = (message ?? {}) as Members;
  const { name } = (params ?? {}) as Members;
  return method === "tools/call" && tools.some((tool) => tool.name === name);
}

/** A stream that a keyless caller may hold open: one for each address, until it ends or the caller is gone. */
function admitListener({ listening, caller }: Exchange): (() => void) | "refused" {
  const { address, delivery } = caller;
  if (listening.has(address)) return "refused";
  // Who is gone already is told of by no event any more.
  if (delivery.closed.aborted) return () => {};
  listening.add(address);
  const release = () => void listening.delete(address);
  delivery.closed.addEventListener("abort", release, { once: true });
  return release;
}

/** The same answer; `ended` is called when all of its body was read. */
function atEnd(response: Response, ended: () => void): Response {
  const { status, headers, body } = response;
  const watched = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ flush: ended }));
  if (!watched) ended();
  return new Response(watched ?? null, { status, headers });
}

function isListening(body: unknown): boolean {
  return (body as Members | null)?.method === "subscriptions/listen";
}

/** A batch may hold several payments: what must be taken back when the answer is lost is all of them. */
function manyUndos(caller: Caller): Caller {
  const undos: (() => void)[] = [];
  const undoAll = () => {
    for (const undo of undos.splice(0)) undo();
  };
  return {
    ...caller,
    delivery: {
      closed: caller.delivery.closed,
      orElse(undo) {
        undos.push(undo);
        caller.delivery.orElse(undoAll);
      },
    },
  };
}

/** What one caller was told is never another's, and a lost session id must not come back out of a cache. */
function uncached(response: Response): Response {
  if (!response.headers.has("Cache-Control")) response.headers.set("Cache-Control", "no-store, private");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

import { Resolver, lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, type Dispatcher, request as send } from "undici";
import { isDialable, literalAddress } from "./address.ts";

/** How long an outgoing request may take, and how much of its answer is read. */
export interface OutgoingLimits {
  readonly connectMs: number;
  readonly totalMs: number;
  readonly maxBytes: number;
}
/** Of a probe, which may be more than one request. */
export const probeLimits: OutgoingLimits = { connectMs: 3_000, totalMs: 10_000, maxBytes: 65_536 };

/** Of a delivery to a merchant's endpoint: what it answers is kept for the merchant to see. */
export const deliveryLimits: OutgoingLimits = { connectMs: 5_000, totalMs: 15_000, maxBytes: 4_096 };

export interface Outgoing {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request early; it is told as `timeout`. */
  readonly signal?: AbortSignal;
}
export type FetchProblem = "url-not-allowed" | "blocked-address" | "timeout" | "unreachable";
export type Fetched =
  | {
      readonly ok: true;
      readonly status: number;
      /** Names in lower case. */
      readonly headers: ReadonlyMap<string, string>;
      readonly body: Buffer;
    }
  | { readonly ok: false; readonly problem: FetchProblem };

/** Fetches an address that a merchant gave us. Never throws for what the other side does. */
export type SafeFetch = (url: string, request?: Outgoing) => Promise<Fetched>;

export interface Resolved {
  readonly address: string;
  readonly family: number;
}
export interface SafeFetchOptions {
  /** http, local and private addresses, any port: only where the sole chain is a local one. */
  readonly allowLocal: boolean;
  readonly userAgent: string;
  readonly limits?: OutgoingLimits;
  /** All addresses of a name; those that name servers tell when left out. */
  readonly resolve?: (hostname: string) => Promise<readonly Resolved[]>;
}

/** Longest URL that is called, as it is called: escapes make it longer than it was written. */
export const MAX_URL = 2_048;
const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);

class BlockedAddress extends Error {}

/** The one way out of the house: https to public addresses, no credentials, no redirects, no proxy from the environment,
 *  bounded in time and size. The address is checked inside the connection's own look-up, so the one that was checked
 *  is the one that is dialled. Source: security.md §3. */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { allowLocal, userAgent, limits = probeLimits } = options;
  const dispatcher = new Agent({
    connect: { timeout: limits.connectMs, lookup: guardedLookup(options) },
    // One request a connection: nothing is kept that a later request could find.
    pipelining: 0,
    headersTimeout: limits.totalMs,
    bodyTimeout: limits.totalMs,
  });
  return async (text, { method = "GET", headers = {}, body = null, signal } = {}) => {
    const url = allowedUrl(text, allowLocal);
    if (url === null) return { ok: false, problem: "url-not-allowed" };
    const literal = literalAddress(url.hostname);
    if (literal !== null && !isDialable(literal, { allowLocal }))
      return { ok: false, problem: "blocked-address" };
    const deadline = AbortSignal.timeout(limits.totalMs);
    try {
      const answer = await send(url, {
        dispatcher,
        method,
        headers: { "accept-encoding": "identity", ...headers, "user-agent": userAgent },
        body: body === null ? null : Buffer.from(body),
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        maxRedirections: 0,
      });
      return {
        ok: true,
        status: answer.statusCode,
        headers: flat(answer.headers),
        body: await readUpTo(answer.body, limits.maxBytes),
      };
    } catch (error) {
      return { ok: false, problem: problemOf(error) };
    }
  };
}

/** The URL as it will be dialled, or null when it may not be. */
function allowedUrl(text: string, allowLocal: boolean): URL | null {
  if (text.length > MAX_URL || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return null;
  if (allowLocal) return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  return url.protocol === "https:" && PORTS.has(url.port) ? url : null;
}

/** Refuses a name of which any address is not for us: a resolver that mixes one public address in changes nothing. */
function guardedLookup({
  allowLocal,
  resolve = allowLocal ? resolveLocal : resolvePublic,
}: SafeFetchOptions): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (!first || !found.every(({ address }) => isDialable(address, { allowLocal })))
          return callback(new BlockedAddress(), "", 0);
        if (options.all)
          return callback(
            null,
            found.map(({ address, family }) => ({ address, family })),
          );
        callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
}

/** The system's own look-up, which knows the machine's names. */
function resolveLocal(hostname: string): Promise<readonly Resolved[]> {
  return systemLookup(hostname, { all: true, verbatim: true });
}

const RESOLVER = { timeout: 1_500, tries: 2 };

/** Asks name servers without a thread: the system's look-up would hold one of four, which files and the database need as
 *  well, for as long as a merchant's name server keeps silent. */
async function resolvePublic(hostname: string): Promise<readonly Resolved[]> {
  const resolver = new Resolver(RESOLVER);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
  return [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
}

async function readUpTo(body: Dispatcher.ResponseData["body"], maxBytes: number): Promise<Buffer> {
  // Leaving the loop early destroys the stream, which says so once more.
  body.on("error", () => {});
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function flat(headers: Dispatcher.ResponseData["headers"]): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value] as const],
    ),
  );
}

function problemOf(error: unknown): FetchProblem {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof BlockedAddress) return "blocked-address";
    const { code, name } = cause as Error & { readonly code?: unknown };
    if (name === "TimeoutError" || name === "AbortError" || String(code).endsWith("TIMEOUT"))
      return "timeout";
  }
  return "unreachable";
}

import { isIPv6 } from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { type Edge, nodeRequest } from "./context.ts";
import { fault } from "./faults.ts";
import {
  type Allowance,
  type Count,
  type Limits,
  policyOf,
  type Rate,
  type RateName,
  rateOf,
  rates,
  steadyOf,
} from "./rates.ts";

/** A burst is there again after so many times the seconds of its rate. */
const BURST_TIMES = 10;

export function memoryCount(): Count {
  const counters = new Map(Object.entries(rates).map(([name, rate]) => [name, counter(name, rate)]));
  return async (name, who, points = 1) => (await counters.get(name)?.(who, points)) ?? null;
}

/** Request rates lifted, for load tests; queue bounds and gas budgets stay. */
export const noCount: Count = async () => null;

/** The same counters for callers who want to know only how long to wait. */
export function limitsOf(count: Count): Limits {
  return async (name, who) => (await count(name, who))?.retryAfterSeconds ?? null;
}

function counter(name: string, rate: Rate) {
  const { points: most, seconds } = steadyOf(rate);
  const steady = new RateLimiterMemory({ keyPrefix: name, points: most, duration: seconds });
  const extra = new RateLimiterMemory({
    keyPrefix: `${name}-burst`,
    points: rate.burst - most,
    duration: BURST_TIMES * seconds,
  });
  return async (who: string, points: 0 | 1): Promise<Allowance> => {
    const first = await consume(steady, who, points);
    if (first.retryAfterSeconds === null || rate.burst === most) return first;
    // What is beyond the steady rate comes out of the burst; the steady rate is soon free again.
    const second = await consume(extra, who, points);
    return second.retryAfterSeconds === null ? { ...first, retryAfterSeconds: null } : first;
  };
}

async function consume(limiter: RateLimiterMemory, who: string, points: 0 | 1): Promise<Allowance> {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(who, points);
    return { remaining: remainingPoints, resetSeconds: secondsOf(msBeforeNext), retryAfterSeconds: null };
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const seconds = secondsOf(refused.msBeforeNext);
    return { remaining: 0, resetSeconds: seconds, retryAfterSeconds: seconds };
  }
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

/** Counts this request; the answer's `RateLimit` headers tell what is left. Fault: `rate_limited`. */
export async function spend(c: Context, name: RateName, who: string): Promise<void> {
  const allowance = await c.get("edge").count(name, who);
  if (allowance === null) return;
  c.set("rate", { name, allowance });
  const { retryAfterSeconds } = allowance;
  if (retryAfterSeconds !== null) throw fault("rate_limited", { retryAfterSeconds, policy: name });
}

/** `RateLimit-Policy` and `RateLimit` on every answer of a request that was counted. */
export const rateHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(rateHeadersOf(c))) c.res.headers.set(name, value);
};

/** What is left, for an answer that passes no middleware; nothing where nothing was counted. */
export function rateHeadersOf(c: Context): Readonly<Record<string, string>> {
  const rate = c.get("rate");
  if (rate === undefined) return {};
  return { "RateLimit-Policy": policyOf(rate.name), RateLimit: rateOf(rate.name, rate.allowance) };
}

export function limitByAddress(name: RateName): MiddlewareHandler {
  return async (c, next) => {
    await spend(c, name, clientAddress(c, c.var.edge));
    await next();
  };
}

/** Whom to count: IPv6 by its /64, since a host may use any address of it. */
export function clientAddress(c: Context, edge: Pick<Edge, "trustedProxyHops">): string {
  return network(callerAddress(c, edge));
}

/** Where the request comes from: the socket's peer, or what the configured proxies say of it. */
export function callerAddress(c: Context, { trustedProxyHops }: Pick<Edge, "trustedProxyHops">): string {
  const socket = nodeRequest(c)?.socket.remoteAddress ?? "local";
  const forwarded = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  const believed = trustedProxyHops > 0 ? forwarded.at(-trustedProxyHops) : undefined;
  return withoutPort(believed ?? "") || socket;
}

/** Some proxies write the client's port as well, Azure's gateway always. It is no part of the address: each connection
 *  would count as somebody else, and be in no list of addresses. */
function withoutPort(hop: string): string {
  return hop.replace(/^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/, "$1$2");
}

function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  if (tail !== undefined) {
    const rest = tail.split(":").filter(Boolean);
    while (groups.length + rest.length < 8) groups.push("0");
    groups.push(...rest);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

import { isIPv6 } from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { type Edge, type MerchantScope, nodeRequest } from "./context.ts";
import { fault } from "./faults.ts";
import { type Limits, type RateName, rates } from "./rates.ts";

const BURST_SECONDS = 10;

export function memoryLimits(): Limits {
  const limiters = new Map(Object.entries(rates).map(([name, rate]) => [name, limiter(name, rate)]));
  return async (name, who) => {
    try {
      await limiters.get(name)?.consume(who);
      return null;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return Math.max(1, Math.ceil(refused.msBeforeNext / 1_000));
    }
  };
}

/** Request rates lifted, for load tests; queue bounds and gas budgets stay. */
export const noLimits: Limits = async () => null;

function limiter(name: string, { perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
  const steady = new RateLimiterMemory({ keyPrefix: name, points: perSecond, duration: 1 });
  const beyond = burst - perSecond;
  if (beyond <= 0) return steady;
  return new BurstyRateLimiter(
    steady,
    new RateLimiterMemory({ keyPrefix: `${name}-burst`, points: beyond, duration: BURST_SECONDS }),
  );
}

/** Fault: `rate_limited`. */
export async function enforce(limits: Limits, name: RateName, who: string): Promise<void> {
  const retryAfterSeconds = await limits(name, who);
  if (retryAfterSeconds !== null) throw fault("rate_limited", { retryAfterSeconds });
}

/** `RateLimit-Policy` of the routes behind a secret key. */
export const secretKeyPolicy = `"secret-key";q=${rates["secret-key"].perSecond};w=1`;

/** A merchant's keys share one allowance, wherever they are used from. */
export function limitMerchant(c: Context, { merchantId }: MerchantScope): Promise<void> {
  return enforce(c.var.edge.limits, "secret-key", merchantId);
}

export function limitByAddress(name: RateName): MiddlewareHandler {
  return async (c, next) => {
    await enforce(c.var.edge.limits, name, clientAddress(c, c.var.edge));
    await next();
  };
}

/** Whom to count: the socket's peer, or what the configured proxies say of it; IPv6 by its /64. */
export function clientAddress(c: Context, { trustedProxyHops }: Pick<Edge, "trustedProxyHops">): string {
  const socket = nodeRequest(c)?.socket.remoteAddress ?? "local";
  const forwarded = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  const believed = trustedProxyHops > 0 ? forwarded.at(-trustedProxyHops) : undefined;
  return network(believed || socket);
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
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

import type { Context, MiddlewareHandler } from "hono";
import { headerCount, type MerchantCtx, type MerchantScope } from "./context.ts";
import { fault } from "./faults.ts";
import { callerAddress, clientAddress, spend } from "./limit.ts";
import { isWithin } from "./network.ts";
import { isAllowedOrigin } from "./origin.ts";
import { isWithheld, type Permission } from "./permissions.ts";
import { routeOf } from "./version.ts";

/** What changes nothing. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** A secret key with this permission, from a server. Faults: `unauthenticated`, `rate_limited`, `address_not_allowed`,
 *  `secret_key_required`, `secret_key_in_browser`, `permission_denied`, `merchant_suspended`. */
export function requireSecretKey(
  permission: Permission,
  { isNotedByVerb = false }: { readonly isNotedByVerb?: boolean | undefined } = {},
): MiddlewareHandler {
  return async (c, next) => {
    const scope = await authenticate(c);
    if (scope.kind !== "sk") throw fault("secret_key_required");
    if (c.req.header("origin") !== undefined && !c.var.edge.isSandbox) throw fault("secret_key_in_browser");
    await countRequest(c, scope);
    const ctx = merchantContext(c, scope);
    ctx.demand(permission);
    c.set("merchant", ctx);
    c.set("isNoted", isNotedByVerb || READS.has(c.req.method));
    await next();
    await noteRest(c, ctx);
  };
}

/** A keyed write is noted in its own transaction; what else has changed something, after it. */
async function noteRest(c: Context, ctx: MerchantCtx): Promise<void> {
  const isReplayed = c.res.headers.has("Idempotent-Replayed");
  if (c.var.isNoted || !c.res.ok || isReplayed) return;
  const made = c.res.headers.get("Location")?.split("/").at(-1);
  await c.var.edge.note(ctx.db.pool, ctx, {
    route: routeOf(c),
    subject: made ?? c.req.param("id") ?? "",
  });
}

/** A publishable key, from a page that it allows or from anywhere else than a page; or a secret key. Faults:
 *  `unauthenticated`, `rate_limited`, `address_not_allowed`, `origin_not_allowed`. Source: interface §5. */
export const requireAnyKey: MiddlewareHandler = async (c, next) => {
  const scope = await authenticate(c);
  const origin = c.req.header("origin");
  const { isSandbox } = c.var.edge;
  if (scope.kind === "pk" && origin !== undefined && !isAllowedOrigin(origin, { ...scope, isSandbox }))
    throw fault("origin_not_allowed");
  await countRequest(c, scope);
  c.set("merchant", merchantContext(c, scope));
  await next();
};

/** Who the request's one bearer key belongs to. An address that has brought many bad keys is told to wait, unless the
 *  next one is good: others may share the address. */
async function authenticate(c: Context): Promise<MerchantScope> {
  const { edge } = c.var;
  if (headerCount(c, "authorization") > 1) throw fault("duplicate_header", { header: "Authorization" });
  const key = bearerKey(c);
  if (key === null) throw fault("unauthenticated");
  const address = clientAddress(c, edge);
  const before = await edge.count("failed-authentication", address, 0);
  const isKnownOnly = before !== null && before.retryAfterSeconds !== null;
  const scope = await edge.authenticate(key, { isKnownOnly });
  if (!scope) {
    await spend(c, "failed-authentication", address);
    throw fault("unauthenticated");
  }
  demandAddress(c, scope);
  return scope;
}

/** Fault: `address_not_allowed`, where the key works from other places only. */
export function demandAddress(c: Context, scope: MerchantScope): void {
  if (!isFromAllowed(c, scope)) throw fault("address_not_allowed");
}

/** Whether the key works from where this request comes. */
export function isFromAllowed(c: Context, { allowedIps }: MerchantScope): boolean {
  return allowedIps === null || isWithin(callerAddress(c, c.var.edge), allowedIps);
}

function bearerKey(c: Context): string | null {
  return /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;
}

/** A merchant's secret keys share one allowance, wherever they are used from; a publishable key has its own, and so has
 *  each of the addresses that use one. */
export async function countRequest(c: Context, { kind, merchantId, keyId }: MerchantScope): Promise<void> {
  if (kind === "sk") return spend(c, "secret-key", merchantId);
  await spend(c, "publishable-key-address", clientAddress(c, c.var.edge));
  await spend(c, "publishable-key", keyId);
}

/** One request of whoever this scope stands for. */
export function merchantContext(c: Context, scope: MerchantScope): MerchantCtx {
  const { edge, ctx } = c.var;
  return {
    ...ctx,
    scope,
    merchantId: scope.merchantId,
    newId: edge.newId,
    db: edge.db,
    demand: (permission) => {
      if (!scope.permissions.has(permission)) throw fault("permission_denied", { permission });
      if (!READS.has(c.req.method) && isWithheld(scope, permission)) throw fault("merchant_suspended");
    },
    countListing: () => spend(c, "listing", scope.merchantId),
    tx: (work) => edge.db.tx(work),
  };
}

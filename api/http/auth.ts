import type { Context, MiddlewareHandler } from "hono";
import { headerCount, type MerchantCtx, type MerchantScope } from "./context.ts";
import { fault } from "./faults.ts";
import { limitMerchant, secretKeyPolicy } from "./limit.ts";
import type { Permission } from "./permissions.ts";

/** A secret key with this permission, from a server. Faults: `unauthenticated`, `secret_key_required`,
 *  `secret_key_in_browser`, `permission_denied`. */
export function requireSecretKey(permission: Permission): MiddlewareHandler {
  return async (c, next) => {
    const scope = await authenticate(c);
    if (scope.kind !== "sk") throw fault("secret_key_required");
    if (c.req.header("origin") !== undefined && !c.var.edge.isSandbox) throw fault("secret_key_in_browser");
    await limitMerchant(c, scope);
    const ctx = merchantContext(c, scope);
    ctx.demand(permission);
    c.set("merchant", ctx);
    await next();
    c.res.headers.set("RateLimit-Policy", secretKeyPolicy);
  };
}

/** Who the request's one bearer key belongs to. */
async function authenticate(c: Context): Promise<MerchantScope> {
  if (headerCount(c, "authorization") > 1) throw fault("duplicate_header", { header: "Authorization" });
  const scope = await bearerScope(c);
  if (!scope) throw fault("unauthenticated");
  return scope;
}

/** The scope of a bearer key, or null when there is none or it is not good; for routes where a key is optional. */
export async function bearerScope(c: Context): Promise<MerchantScope | null> {
  const [, key] = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
  return key === undefined ? null : c.var.edge.authenticate(key);
}

function merchantContext(c: Context, scope: MerchantScope): MerchantCtx {
  const { edge, ctx } = c.var;
  return {
    ...ctx,
    scope,
    merchantId: scope.merchantId,
    newId: edge.newId,
    db: edge.db,
    demand: (permission) => {
      if (!scope.permissions.has(permission)) throw fault("permission_denied", { permission });
    },
    tx: (work) => edge.db.tx(work),
  };
}

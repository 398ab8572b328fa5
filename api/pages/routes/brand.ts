import type { Context } from "hono";
import { hash, toBytes } from "#kernel/bytes";
import type { Executor } from "#store";
import { clientAddress, spend } from "../../http/limit.ts";
import { findLogo } from "../../merchant/verbs/brand.ts";
import { styleAt } from "../brand.ts";

const LOGO = /^\/assets\/logo-([0-9a-f]{64})[.]png$/;
const FOR_EVER = { "Cache-Control": "public, max-age=31536000, immutable" };

/** The colour or the picture of a merchant, at an address that changes with it; null for another address. Fault:
 *  `rate_limited`, for pictures: each is a look-up. */
export async function brandAsset(c: Context, db: Executor): Promise<Response | null> {
  const style = styleAt(c.req.path);
  if (style !== null) return c.body(style, 200, { "Content-Type": "text/css; charset=utf-8", ...FOR_EVER });
  const digest = LOGO.exec(c.req.path)?.[1];
  if (digest === undefined) return null;
  await spend(c, "lookup", clientAddress(c, c.var.edge));
  const png = await findLogo(db, hash(`0x${digest}`));
  return png && c.body(new Uint8Array(toBytes(png)), 200, { "Content-Type": "image/png", ...FOR_EVER });
}

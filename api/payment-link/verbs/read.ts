import { and, desc, eq, lt, not } from "drizzle-orm";
import type { Database } from "#store";
import type { Call } from "../../http/context.ts";
import type { Page } from "../../http/page.ts";
import { presentLink } from "../present.ts";
import type { PaymentLink, PaymentLinkFilter, PaymentLinkPath } from "../schema.ts";
import { obstacleOf } from "../state.ts";
import { paymentLink } from "../tables.ts";
import { findLink, findLinkById, isPayable, type LinkView, shownAt, standingsWhere } from "./standing.ts";

/** Fault: `not_found`. */
export async function readLink(view: LinkView, { ctx, input }: Call<PaymentLinkPath>): Promise<PaymentLink> {
  ctx.demand("links:read");
  const now = ctx.now();
  const standing = await findLink(ctx.db.pool, now, { merchantId: ctx.merchantId, id: input.id });
  return presentLink(standing, await shownAt(ctx.db.pool, view, { merchantId: ctx.merchantId, now }));
}

/** A link for whoever holds its id, and why it cannot be paid: the id is the capability of its page. Fault:
 *  `not_found`. */
export async function openLink(view: LinkView & { readonly db: Database }, id: string, now: Date) {
  const { pool } = view.db;
  const standing = await findLinkById(pool, now, id);
  const shown = await shownAt(pool, view, { merchantId: standing.link.merchantId, now });
  return { link: presentLink(standing, shown), obstacle: obstacleOf(standing, now) };
}

/** The merchant's links, newest first; one more than the page holds when there are more. */
export async function listLinks(
  view: LinkView,
  { ctx, input: { listed, payable, kind, after, limit } }: Call<Page & PaymentLinkFilter>,
): Promise<readonly PaymentLink[]> {
  ctx.demand("links:read");
  const now = ctx.now();
  const shown = await shownAt(ctx.db.pool, view, { merchantId: ctx.merchantId, now });
  if (payable === "true" && !shown.hasRails) return [];
  const standings = await standingsWhere(ctx.db.pool, now, {
    where: and(
      eq(paymentLink.merchantId, ctx.merchantId),
      listed === undefined ? undefined : eq(paymentLink.listed, listed === "true"),
      kind === undefined ? undefined : eq(paymentLink.kind, kind),
      shown.hasRails ? payableIs(payable, now) : undefined,
      after === null ? undefined : lt(paymentLink.id, after as `plink_${string}`),
    ),
    order: desc(paymentLink.id),
    limit: limit + 1,
  });
  return standings.map((standing) => presentLink(standing, shown));
}

function payableIs(payable: PaymentLinkFilter["payable"], now: Date) {
  const condition = isPayable(now);
  if (payable === undefined || !condition) return undefined;
  return payable === "true" ? condition : not(condition);
}

import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Call } from "../../http/context.ts";
import type { Page } from "../../http/page.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { invoicesOf } from "../../invoice/verbs/of-subscription.ts";
import { presentSubscription } from "../present.ts";
import type { Subscription, SubscriptionFilter, SubscriptionPath, SubscriptionRead } from "../schema.ts";
import { subscription } from "../tables.ts";
import { findSubscription } from "./move.ts";

const CYCLES = 100;

/** A subscription with its cycles, newest first. Fault: `not_found`. */
export async function readSubscription(
  desk: InvoiceDesk,
  { ctx, input }: Call<SubscriptionPath>,
): Promise<SubscriptionRead> {
  ctx.demand("catalog:read");
  const { db, merchantId } = ctx;
  const row = await findSubscription(db.pool, { merchantId, id: input.id });
  const cycles = await invoicesOf(db.pool, desk, row, CYCLES);
  return { subscription: presentSubscription(row), cycles: [...cycles] };
}

/** The merchant's subscriptions, newest first; one more than the page holds when there are more. */
export async function listSubscriptions({
  ctx,
  input,
}: Call<Page & SubscriptionFilter>): Promise<readonly Subscription[]> {
  ctx.demand("catalog:read");
  const { state, customerId, email, after, limit } = input;
  const rows = await ctx.db.pool
    .select()
    .from(subscription)
    .where(
      and(
        eq(subscription.merchantId, ctx.merchantId),
        state && eq(subscription.state, state),
        customerId === undefined ? undefined : eq(subscription.customerId, customerId as `cus_${string}`),
        email === undefined ? undefined : sql`lower(${subscription.customerEmail}) = lower(${email})`,
        after === null ? undefined : lt(subscription.id, after as `sub_${string}`),
      ),
    )
    .orderBy(desc(subscription.id))
    .limit(limit + 1);
  return rows.map(presentSubscription);
}

import { and, inArray } from "drizzle-orm";
import type { EventFamily } from "../http/event.ts";
import { presentSubscription } from "./present.ts";
import { Subscription } from "./schema.ts";
import { subscription } from "./tables.ts";

/** What merchants are told of subscriptions. Source: merchant-api.md §6.1. */
export const subscriptionEvents: EventFamily = {
  types: [
    "subscription.created",
    "subscription.cycle_issued",
    "subscription.past_due",
    "subscription.recovered",
    "subscription.paused",
    "subscription.resumed",
    "subscription.cancelled",
  ],
  object: Subscription,
  async present(db, facts) {
    if (facts.length === 0) return [];
    const ids = [...new Set(facts.map(({ subject }) => subject as `sub_${string}`))];
    const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
    const rows = await db
      .select()
      .from(subscription)
      .where(and(inArray(subscription.merchantId, merchants), inArray(subscription.id, ids)));
    const byId = new Map(rows.map((row) => [`${row.merchantId} ${row.id}`, row]));
    return facts.map(({ merchantId, subject }) => {
      const row = byId.get(`${merchantId} ${subject}`);
      return row ? presentSubscription(row) : null;
    });
  },
};

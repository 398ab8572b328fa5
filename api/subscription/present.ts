import { presentAmount } from "../http/money.ts";
import type { Subscription } from "./schema.ts";
import type { subscription } from "./tables.ts";

export type SubscriptionRow = typeof subscription.$inferSelect;

/** As its merchant sees it. Source: interface §2.10. */
export function presentSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    subscriber: { customerId: row.customerId, name: row.customerName, email: row.customerEmail },
    description: row.description,
    amount: presentAmount({ amount: row.amount, asset: row.currency }),
    interval: row.interval,
    intervalCount: row.intervalCount,
    state: row.state,
    billedCycles: row.billedCycles,
    daysUntilDue: row.daysUntilDue,
    maxCycles: row.maxCycles,
    metadata: { ...row.metadata },
    sendEmail: row.sendEmail,
    anchorAt: row.anchorAt.toISOString(),
    nextBillingAt: row.nextBillingAt?.toISOString() ?? null,
    pausedAt: row.pausedAt?.toISOString() ?? null,
    pauseReason: row.pauseReason,
    cancelAt: row.cancelAt?.toISOString() ?? null,
    cancelledAt: row.cancelledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
  };
}

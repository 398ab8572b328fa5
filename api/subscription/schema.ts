import { z } from "@hono/zod-openapi";
import { Money, MoneyInput } from "../http/money.ts";
import { Instant, line, Metadata } from "../http/text.ts";
import { Invoice } from "../invoice/schema.ts";
import { intervals } from "./schedule.ts";
import { subscriptionStates } from "./state.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });
const Interval = z.enum(intervals);
const DaysUntilDue = z.int().min(0).max(90);
const MOST_DAYS = 365;
const MOST = 52;

/** Source: interface §4; what the interface leaves open: merchant-api.md §2.5. */
export const SubscriptionInput = z
  .strictObject({
    customer: z
      .strictObject({ name: line(140), email: z.email().max(254) })
      .openapi({ description: "The customer with this email, or a new one" }),
    description: line(500),
    amount: MoneyInput,
    interval: Interval,
    intervalCount: z
      .int()
      .min(1)
      .max(MOST_DAYS)
      .default(1)
      .openapi({ description: "Up to 52; of days up to 365" }),
    anchorAt: Instant.optional().openapi({
      description: "When the first cycle begins; now when left out",
    }),
    daysUntilDue: DaysUntilDue.default(7),
    maxCycles: z.int().min(1).max(10_000).optional(),
    metadata: Metadata.optional(),
    sendEmail: z.boolean().default(true),
  })
  .check((ctx) => {
    const { interval, intervalCount } = ctx.value;
    if (interval === "day" || intervalCount <= MOST) return;
    const message = `at most ${MOST}`;
    ctx.issues.push({ code: "custom", input: ctx.value, path: ["intervalCount"], message });
  })
  .openapi("SubscriptionInput");
export type SubscriptionInput = z.infer<typeof SubscriptionInput>;

/** Counts from the next cycle on. */
export const SubscriptionChange = z
  .strictObject({
    amount: MoneyInput.optional(),
    description: line(500).optional(),
    daysUntilDue: DaysUntilDue.optional(),
    metadata: Metadata.optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .openapi({ description: "Refused when the subscription has another by now" }),
  })
  .openapi("SubscriptionChange");
export type SubscriptionChange = z.infer<typeof SubscriptionChange>;

export const PauseInput = z.strictObject({ reason: line(500).optional() }).openapi("SubscriptionPause");
export type PauseInput = z.infer<typeof PauseInput>;

export const CancelInput = z
  .strictObject({
    at: z.enum(["now", "period-end"]).default("now"),
    voidOpenInvoices: z
      .boolean()
      .default(false)
      .openapi({ description: "Void what is not paid, save where money is on its way; right after" }),
  })
  .openapi("SubscriptionCancel");
export type CancelInput = z.infer<typeof CancelInput>;

/** Source: interface §2.10; what is beyond its fields is ours. */
export const Subscription = z
  .object({
    id: z.string().openapi({ example: "sub_01K2C0Z0000000000000000000" }),
    subscriber: z.object({ customerId: z.string(), name: z.string(), email: z.string() }),
    description: z.string(),
    amount: Money,
    interval: Interval,
    intervalCount: z.int(),
    state: z.enum(subscriptionStates),
    billedCycles: z.int(),
    daysUntilDue: z.int(),
    maxCycles: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    sendEmail: z.boolean(),
    anchorAt: Timestamp,
    nextBillingAt: Timestamp.nullable(),
    pausedAt: Timestamp.nullable(),
    pauseReason: z.string().nullable(),
    cancelAt: Timestamp.nullable().openapi({ description: "It ends then, at the end of a period" }),
    cancelledAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    version: z.int(),
  })
  .openapi("Subscription");
export type Subscription = z.infer<typeof Subscription>;

export const Subscriptions = z.array(Subscription);

export const SubscriptionRead = z
  .object({
    subscription: Subscription,
    cycles: z.array(Invoice).openapi({ description: "Newest first, at most 100" }),
  })
  .openapi("SubscriptionRead");
export type SubscriptionRead = z.infer<typeof SubscriptionRead>;

export const SubscriptionPath = z.object({
  id: z.string().max(40).openapi({ example: "sub_01K2C0Z0000000000000000000" }),
});
export type SubscriptionPath = z.infer<typeof SubscriptionPath>;

/** What a list of subscriptions may be narrowed by. */
export const SubscriptionFilter = z.object({
  state: z.enum(subscriptionStates).optional(),
  customerId: z.string().max(40).optional(),
  email: z.string().max(254).optional(),
});
export type SubscriptionFilter = z.infer<typeof SubscriptionFilter>;

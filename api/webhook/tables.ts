import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { Hex } from "#kernel/bytes";
import { hexBytes, instant } from "#store";
import { merchant } from "../merchant/tables.ts";
import type { Attempt } from "./schema.ts";
import { type DeliveryState, type DisabledReason, deliveryStates, disabledReasons } from "./state.ts";

const list = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(","));

/** What merchants were told, whether or not anybody listened. Its id is that of the fact, and so is its place in the
 *  order of things; a sale by an agent URL stands in the place of the fact that it was paid. No foreign key: hundreds are
 *  written in a second, and each fact is some merchant's. */
export const event = pgTable(
  "event",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`evt_${string}`>().notNull(),
    type: text("type").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    subject: text("subject").notNull(),
    /** As it is sent, in the order of its members; `json` keeps that. */
    data: json("data").$type<EventData>().notNull(),
    /** The revision in which `data` was written. */
    apiVersion: text("api_version").notNull(),
    occurredAt: instant("occurred_at").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    index("event_sequence").on(table.merchantId, table.sequence),
    index("event_type").on(table.merchantId, table.type, table.sequence),
    index("event_created").on(table.createdAt),
  ],
);

export interface EventData {
  readonly object: object;
  readonly previous: object | null;
}

/** A secret that was replaced, sealed, and until when it signs. */
export interface OlderSecret {
  readonly secret: Hex;
  readonly until: string;
}

/** Where a merchant listens. Deleted ones stay while deliveries name them, without their secrets. */
export const webhookEndpoint = pgTable(
  "webhook_endpoint",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`whe_${string}`>().notNull(),
    url: text("url").notNull(),
    events: text("events").array().notNull(),
    description: text("description").notNull(),
    enabled: boolean("enabled").notNull(),
    disabledReason: text("disabled_reason").$type<DisabledReason>(),
    disabledAt: instant("disabled_at"),
    /** The revision that it is sent. */
    apiVersion: text("api_version").notNull(),
    /** Sealed; see `seal.ts`. */
    secret: hexBytes("secret").notNull(),
    previousSecret: hexBytes("previous_secret"),
    previousUntil: instant("previous_until"),
    /** Those replaced before it whose time is not over: each signs until its own end. */
    olderSecrets: jsonb("older_secrets").$type<readonly OlderSecret[]>().notNull().default([]),
    /** First failure after the last success, how many since, and after how many days the merchant was told. */
    failingSince: instant("failing_since"),
    failures: integer("failures").notNull().default(0),
    warnedDays: integer("warned_days").notNull().default(0),
    /** To within a minute: it is not written at each success. */
    lastSuccessAt: instant("last_success_at"),
    /** One process sends at a time. By the machine's clock; `lease` counts them, so that a late hand finds it gone. */
    leasedUntil: instant("leased_until"),
    lease: integer("lease").notNull().default(0),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
    deletedAt: instant("deleted_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    check(
      "webhook_endpoint_disabled",
      sql`${table.enabled} = (${table.disabledReason} IS NULL) AND ${table.enabled} = (${table.disabledAt} IS NULL)`,
    ),
    check("webhook_endpoint_disabled_reason", sql`${table.disabledReason} IN (${list(disabledReasons)})`),
    check(
      "webhook_endpoint_previous",
      sql`(${table.previousSecret} IS NULL) = (${table.previousUntil} IS NULL)`,
    ),
  ],
);

/** One event on its way to one endpoint: sent again, it is the same row. */
export const webhookDelivery = pgTable(
  "webhook_delivery",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`whd_${string}`>().notNull(),
    endpointId: text("endpoint_id").$type<`whe_${string}`>().notNull(),
    eventId: text("event_id").$type<`evt_${string}`>().notNull(),
    type: text("type").notNull(),
    subject: text("subject").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    state: text("state").$type<DeliveryState>().notNull(),
    /** Attempts since it was queued last; `attempts` tells of all. */
    tries: integer("tries").notNull(),
    attempts: jsonb("attempts").$type<readonly Attempt[]>().notNull(),
    response: text("response"),
    /** When it is tried next, by the merchants' clock. */
    dueAt: instant("due_at"),
    /** Grows with each change: what came of an attempt is written to the row that was read, or not at all. */
    version: integer("version").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({
      name: "webhook_delivery_endpoint",
      columns: [table.merchantId, table.endpointId],
      foreignColumns: [webhookEndpoint.merchantId, webhookEndpoint.id],
    }),
    uniqueIndex("webhook_delivery_event").on(table.merchantId, table.endpointId, table.eventId),
    // The log of an endpoint, newest first.
    index("webhook_delivery_log").on(table.merchantId, table.endpointId, table.id),
    // Small at most times: what is still to be sent, by when, and by what it is about.
    index("webhook_delivery_due")
      .on(table.merchantId, table.endpointId, table.dueAt, table.sequence)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_delivery_subject")
      .on(table.merchantId, table.endpointId, table.subject, table.sequence)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_delivery_created").on(table.createdAt),
    check("webhook_delivery_state", sql`${table.state} IN (${list(deliveryStates)})`),
    check("webhook_delivery_due_pending", sql`(${table.state} = 'pending') = (${table.dueAt} IS NOT NULL)`),
  ],
);

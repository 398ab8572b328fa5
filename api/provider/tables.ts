import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { hexBytes, instant } from "#store";

/** Callbacks that a provider sent and signed, each once, before they are acknowledged. */
export const providerEvent = pgTable(
  "provider_event",
  {
    provider: text("provider").notNull(),
    /** The provider's own, the same at every delivery. */
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    /** The provider's id of what it is about. */
    reference: text("reference").notNull(),
    /** The bytes that were signed. */
    body: hexBytes("body").notNull(),
    receivedAt: instant("received_at").notNull(),
    /** When the provider was read again because of it. */
    handledAt: instant("handled_at"),
    attempts: integer("attempts").notNull().default(0),
    /** Why the last attempt to handle it failed. */
    failure: text("failure"),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.eventId] }),
    index("provider_event_unhandled").on(table.receivedAt).where(sql`${table.handledAt} IS NULL`),
  ],
);

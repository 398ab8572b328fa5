import { index, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { hashBytes, hexBytes, instant } from "#store";

/** What a keyed write answered, in the transaction of the write itself. */
export const idempotencyKey = pgTable(
  "idempotency_key",
  {
    /** Merchant id, method and route template. */
    scope: text("scope").notNull(),
    key: text("key").notNull(),
    fingerprint: hashBytes("fingerprint").notNull(),
    resourceId: text("resource_id"),
    /** Null only inside the transaction that is still writing. */
    status: integer("status"),
    headers: jsonb("headers").$type<Readonly<Record<string, string>>>(),
    body: hexBytes("body"),
    createdAt: instant("created_at").notNull(),
    expiresAt: instant("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index("idempotency_key_expires").on(table.expiresAt),
  ],
);

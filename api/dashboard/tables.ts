import { foreignKey, index, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { hashBytes, instant } from "#store";
import { apiKey } from "../merchant/tables.ts";

/** Somebody signed in with a secret key. It may do what the key may do, and ends with it. */
export const dashboardSession = pgTable(
  "dashboard_session",
  {
    merchantId: text("merchant_id").notNull(),
    /** SHA-256 of the cookie's token; the token itself is kept nowhere. */
    tokenHash: hashBytes("token_hash").notNull(),
    /** `key_id` of the key that opened it. */
    keyId: text("key_id").notNull(),
    /** What every form of the session carries. */
    csrfToken: text("csrf_token").notNull(),
    createdAt: instant("created_at").notNull(),
    /** Within a minute. */
    lastUsedAt: instant("last_used_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.tokenHash] }),
    unique("dashboard_session_token").on(table.tokenHash),
    foreignKey({ columns: [table.keyId], foreignColumns: [apiKey.keyId] }),
    index("dashboard_session_idle").on(table.lastUsedAt),
  ],
);

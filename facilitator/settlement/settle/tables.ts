import { index, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { hashBytes, instant } from "#store";

/** What a caller with an id was told, byte for byte. `body` is null while the first call is under way. */
export const settleAnswer = pgTable(
  "settle_answer",
  {
    scope: text("scope").notNull(),
    id: text("id").notNull(),
    payloadHash: hashBytes("payload_hash").notNull(),
    claimKey: hashBytes("claim_key").notNull(),
    body: jsonb("body"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.id] }),
    index("settle_answer_claim").on(table.claimKey),
  ],
);

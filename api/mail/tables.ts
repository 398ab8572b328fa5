import { sql } from "drizzle-orm";
import {
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { instant } from "#store";
import { merchant } from "../merchant/tables.ts";
import type { Message } from "./message.ts";
import { type MailState, mailStates } from "./state.ts";

/** Mails, one for each cause and template, ever. A row outlives its mail: it is what keeps a second one from being made. */
export const mail = pgTable(
  "mail",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`mail_${string}`>().notNull(),
    /** Id of what called for it. */
    cause: text("cause").notNull(),
    template: text("template").$type<Message["template"]>().notNull(),
    toAddress: text("to_address").notNull(),
    subject: text("subject").notNull(),
    /** Made once, so that every try carries the same. */
    messageId: text("message_id").notNull(),
    /** What it says, as it was when it was called for; gone once it was sent: it may hold a person's data. */
    data: jsonb("data").$type<Message["data"]>(),
    state: text("state").$type<MailState>().notNull(),
    attempts: integer("attempts").notNull().default(0),
    lastError: text("last_error"),
    /** When it may be tried next, by the machine's clock; while one sends it, when another may. */
    dueAt: instant("due_at"),
    /** By the merchants' clock; the mail's own date. */
    createdAt: instant("created_at").notNull(),
    sentAt: instant("sent_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("mail_cause").on(table.merchantId, table.cause, table.template),
    index("mail_due").on(table.dueAt).where(sql`${table.state} = 'queued'`),
    index("mail_failed").on(table.createdAt).where(sql`${table.state} = 'failed'`),
    index("mail_undelivered").on(table.merchantId, table.createdAt).where(sql`${table.state} <> 'sent'`),
    index("mail_quota").on(table.merchantId, table.createdAt),
    check("mail_state", sql`${table.state} IN (${sql.raw(mailStates.map((each) => `'${each}'`).join(","))})`),
    check("mail_queued", sql`(${table.state} = 'queued') = (${table.dueAt} IS NOT NULL)`),
    check("mail_sent", sql`(${table.state} = 'sent') = (${table.sentAt} IS NOT NULL)`),
    check("mail_data", sql`(${table.state} = 'sent') = (${table.data} IS NULL)`),
  ],
);

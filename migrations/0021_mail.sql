-- Why: every mail has a row, one for each cause and template, so that none is sent twice and none is lost; a merchant has an
-- address that notices go to. Rows are never deleted: they keep a second mail of the same cause from being made.
-- Locks: merchant, for a moment: a nullable column without a default rewrites nothing; the foreign key is of a new table.
-- Backfill: none.
CREATE TABLE "mail" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"cause" text NOT NULL,
	"template" text NOT NULL,
	"to_address" text NOT NULL,
	"subject" text NOT NULL,
	"message_id" text NOT NULL,
	"data" jsonb,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"due_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"sent_at" timestamp (3) with time zone,
	CONSTRAINT "mail_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "mail_state" CHECK ("mail"."state" IN ('queued','sent','failed')),
	CONSTRAINT "mail_queued" CHECK (("mail"."state" = 'queued') = ("mail"."due_at" IS NOT NULL)),
	CONSTRAINT "mail_sent" CHECK (("mail"."state" = 'sent') = ("mail"."sent_at" IS NOT NULL)),
	CONSTRAINT "mail_data" CHECK (("mail"."state" = 'sent') = ("mail"."data" IS NULL))
);
--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "contact_email" text;--> statement-breakpoint
ALTER TABLE "mail" ADD CONSTRAINT "mail_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "mail_cause" ON "mail" USING btree ("merchant_id","cause","template");--> statement-breakpoint
CREATE INDEX "mail_due" ON "mail" USING btree ("due_at") WHERE "mail"."state" = 'queued';--> statement-breakpoint
CREATE INDEX "mail_failed" ON "mail" USING btree ("created_at") WHERE "mail"."state" = 'failed';--> statement-breakpoint
CREATE INDEX "mail_quota" ON "mail" USING btree ("merchant_id","created_at");--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "mail" FROM farebox_app;

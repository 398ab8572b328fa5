-- Why: invoices with numbers that follow one another, subscriptions that issue them, the reminders of both, and what holds
-- a payable that can be paid in several ways. A merchant names the prefix of its numbers, and what becomes of a subscription
-- that nobody pays. Locks: merchant, payable and payment_intent for a moment each, for columns that are null or have a
-- constant default. Backfill: none; what was there before stands alone.
CREATE TABLE "invoice" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"state" text NOT NULL,
	"sequence" bigint,
	"number" text,
	"buyer" jsonb NOT NULL,
	"currency" text NOT NULL,
	"lines" jsonb NOT NULL,
	"total" numeric(39, 0) NOT NULL,
	"collected" numeric(39, 0) NOT NULL,
	"paid" numeric(39, 0) NOT NULL,
	"notes" text,
	"metadata" jsonb NOT NULL,
	"merchant_name" text NOT NULL,
	"merchant_city" text NOT NULL,
	"merchant_country_code" text NOT NULL,
	"merchant_category_code" text,
	"fee_bps" integer NOT NULL,
	"days_until_due" integer,
	"due_at" timestamp (3) with time zone,
	"send_email" boolean NOT NULL,
	"reminders_held" boolean NOT NULL,
	"remind_at" timestamp (3) with time zone,
	"overdue_at" timestamp (3) with time zone,
	"listed" boolean NOT NULL,
	"subscription_id" text,
	"cycle_index" integer,
	"period_start" timestamp (3) with time zone,
	"period_end" timestamp (3) with time zone,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"issued_at" timestamp (3) with time zone,
	"paid_at" timestamp (3) with time zone,
	"voided_at" timestamp (3) with time zone,
	CONSTRAINT "invoice_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "invoice_state_known" CHECK ("invoice"."state" IN ('draft','open','paid','uncollectible','void')),
	CONSTRAINT "invoice_total" CHECK ("invoice"."total" > 0 AND "invoice"."paid" >= 0 AND "invoice"."paid" <= "invoice"."collected"),
	CONSTRAINT "invoice_issued" CHECK (("invoice"."state" = 'draft') = ("invoice"."sequence" IS NULL) AND ("invoice"."sequence" IS NULL) = ("invoice"."number" IS NULL) AND ("invoice"."sequence" IS NULL) = ("invoice"."issued_at" IS NULL) AND ("invoice"."issued_at" IS NULL OR "invoice"."due_at" IS NOT NULL)),
	CONSTRAINT "invoice_paid" CHECK (("invoice"."state" = 'paid') = ("invoice"."paid_at" IS NOT NULL)),
	CONSTRAINT "invoice_voided" CHECK (("invoice"."state" = 'void') = ("invoice"."voided_at" IS NOT NULL)),
	CONSTRAINT "invoice_of_cycle" CHECK (("invoice"."subscription_id" IS NULL) = ("invoice"."cycle_index" IS NULL) AND ("invoice"."subscription_id" IS NULL) = ("invoice"."period_start" IS NULL) AND ("invoice"."subscription_id" IS NULL) = ("invoice"."period_end" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "invoice_news" (
	"fact_id" text PRIMARY KEY NOT NULL,
	"merchant_id" text NOT NULL,
	"invoice_id" text NOT NULL,
	"heard_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoice_reminder" (
	"merchant_id" text NOT NULL,
	"invoice_id" text NOT NULL,
	"template" text NOT NULL,
	"is_told" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "invoice_reminder_merchant_id_invoice_id_template_pk" PRIMARY KEY("merchant_id","invoice_id","template")
);
--> statement-breakpoint
CREATE TABLE "merchant_counter" (
	"merchant_id" text NOT NULL,
	"name" text NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "merchant_counter_merchant_id_name_pk" PRIMARY KEY("merchant_id","name")
);
--> statement-breakpoint
CREATE TABLE "subscription" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"state" text NOT NULL,
	"customer_id" text NOT NULL,
	"customer_name" text NOT NULL,
	"customer_email" text NOT NULL,
	"description" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"currency" text NOT NULL,
	"interval" text NOT NULL,
	"interval_count" integer NOT NULL,
	"anchor_at" timestamp (3) with time zone NOT NULL,
	"days_until_due" integer NOT NULL,
	"max_cycles" integer,
	"metadata" jsonb NOT NULL,
	"send_email" boolean NOT NULL,
	"billed_cycles" integer NOT NULL,
	"next_index" integer NOT NULL,
	"next_billing_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone,
	"batch" text,
	"paused_at" timestamp (3) with time zone,
	"pause_reason" text,
	"cancel_at" timestamp (3) with time zone,
	"cancelled_at" timestamp (3) with time zone,
	"voids_open" boolean NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "subscription_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "subscription_state_known" CHECK ("subscription"."state" IN ('active','past-due','paused','cancelled')),
	CONSTRAINT "subscription_interval" CHECK ("subscription"."interval" IN ('day','week','month','year')),
	CONSTRAINT "subscription_amount" CHECK ("subscription"."amount" > 0 AND "subscription"."interval_count" > 0),
	CONSTRAINT "subscription_paused" CHECK (("subscription"."state" = 'paused') = ("subscription"."paused_at" IS NOT NULL)),
	CONSTRAINT "subscription_cancelled" CHECK (("subscription"."state" = 'cancelled') = ("subscription"."cancelled_at" IS NOT NULL)),
	CONSTRAINT "subscription_billing" CHECK ("subscription"."next_billing_at" IS NULL OR "subscription"."state" IN ('active','past-due'))
);
--> statement-breakpoint
CREATE TABLE "subscription_cycle" (
	"merchant_id" text NOT NULL,
	"subscription_id" text NOT NULL,
	"cycle_index" integer NOT NULL,
	"state" text NOT NULL,
	"invoice_id" text,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "subscription_cycle_merchant_id_subscription_id_cycle_index_pk" PRIMARY KEY("merchant_id","subscription_id","cycle_index"),
	CONSTRAINT "subscription_cycle_issued" CHECK (("subscription_cycle"."state" = 'issued') = ("subscription_cycle"."invoice_id" IS NOT NULL) AND "subscription_cycle"."state" IN ('issued','skipped'))
);
--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "held_for" text;--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "held_as" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "invoice_prefix" text DEFAULT 'INV' NOT NULL;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "subscription_final_action" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_intent" ADD COLUMN "held_as" text;--> statement-breakpoint
ALTER TABLE "invoice" ADD CONSTRAINT "invoice_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_reminder" ADD CONSTRAINT "invoice_reminder_merchant_id_invoice_id_invoice_merchant_id_id_fk" FOREIGN KEY ("merchant_id","invoice_id") REFERENCES "public"."invoice"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchant_counter" ADD CONSTRAINT "merchant_counter_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_cycle" ADD CONSTRAINT "subscription_cycle_merchant_id_subscription_id_subscription_merchant_id_id_fk" FOREIGN KEY ("merchant_id","subscription_id") REFERENCES "public"."subscription"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_sequence" ON "invoice" USING btree ("merchant_id","sequence") WHERE "invoice"."sequence" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_cycle" ON "invoice" USING btree ("merchant_id","subscription_id","cycle_index") WHERE "invoice"."subscription_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_state" ON "invoice" USING btree ("merchant_id","state","id");--> statement-breakpoint
CREATE INDEX "invoice_number" ON "invoice" USING btree ("merchant_id","number") WHERE "invoice"."number" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_buyer" ON "invoice" USING btree ("merchant_id",lower(buyer->>'email'),"id");--> statement-breakpoint
CREATE INDEX "invoice_remind" ON "invoice" USING btree ("remind_at") WHERE "invoice"."remind_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_falling_due" ON "invoice" USING btree ("due_at") WHERE "invoice"."state" = 'open' AND "invoice"."overdue_at" IS NULL;--> statement-breakpoint
CREATE INDEX "invoice_long_overdue" ON "invoice" USING btree ("due_at") WHERE "invoice"."state" = 'open' AND "invoice"."subscription_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_subscription" ON "invoice" USING btree ("merchant_id","subscription_id","id") WHERE "invoice"."subscription_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_news_invoice" ON "invoice_news" USING btree ("merchant_id","invoice_id");--> statement-breakpoint
CREATE INDEX "subscription_due" ON "subscription" USING btree ("due_at") WHERE "subscription"."due_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "subscription_voiding" ON "subscription" USING btree ("cancelled_at") WHERE "subscription"."voids_open";--> statement-breakpoint
CREATE INDEX "subscription_state" ON "subscription" USING btree ("merchant_id","state","id");--> statement-breakpoint
CREATE INDEX "subscription_customer" ON "subscription" USING btree ("merchant_id","customer_id","id");--> statement-breakpoint
CREATE INDEX "subscription_email" ON "subscription" USING btree ("merchant_id",lower(customer_email),"id");--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_invoice_prefix" CHECK ("merchant"."invoice_prefix" ~ '^[A-Z0-9]([A-Z0-9-]{0,10}[A-Z0-9])?$');--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_final_action" CHECK ("merchant"."subscription_final_action" IN ('none', 'pause', 'cancel'));--> statement-breakpoint
REVOKE TRUNCATE ON "invoice", "invoice_reminder", "merchant_counter" FROM farebox_app;--> statement-breakpoint
REVOKE DELETE ON "merchant_counter", "invoice_reminder" FROM farebox_app;--> statement-breakpoint
CREATE TRIGGER invoice_rows BEFORE DELETE ON "invoice" FOR EACH ROW WHEN (OLD.state <> 'draft') EXECUTE FUNCTION refuse_change();--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "subscription", "subscription_cycle" FROM farebox_app;

-- Why: keys know who made them, from which addresses and pages they work; a merchant has settings; what is done to keys
-- and settings is noted, and the note stays.
-- Locks: merchant and api_key for the added columns, which have constant defaults; both are small. Backfill: none.
CREATE TABLE "audit_entry" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"actor" text,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"detail" jsonb NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "audit_entry_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "allowed_origins" jsonb;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "allowed_ips" jsonb;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "created_by" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "category_code" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "allowed_origins" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "underpayment_tolerance_bps" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "refund_fees" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_entry" ADD CONSTRAINT "audit_entry_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_key_allowed_origins" ON "api_key" USING gin ("allowed_origins");--> statement-breakpoint
CREATE INDEX "merchant_allowed_origins" ON "merchant" USING gin ("allowed_origins");--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_category_code" CHECK ("merchant"."category_code" ~ '^[0-9]{4}$');--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_underpayment_tolerance" CHECK ("merchant"."underpayment_tolerance_bps" BETWEEN 0 AND 500);--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON audit_entry FROM farebox_app;

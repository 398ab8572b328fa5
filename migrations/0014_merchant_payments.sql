CREATE TABLE "payment_intent" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"status" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"currency" text NOT NULL,
	"provider" text NOT NULL,
	"source" text NOT NULL,
	"asked" jsonb NOT NULL,
	"settlement_asset" text,
	"payment_asset" text,
	"payment_chain" text,
	"payer_address" "bytea",
	"execution_path" text,
	"merchant_name" text NOT NULL,
	"merchant_city" text NOT NULL,
	"merchant_country_code" text NOT NULL,
	"merchant_category_code" text,
	"merchant_reference" text,
	"metadata" jsonb NOT NULL,
	"customer" jsonb,
	"return_url" text,
	"fee_bps" integer NOT NULL,
	"expires_in_seconds" integer,
	"offer_amount" numeric(39, 0),
	"offer_asset" text,
	"offer_rails" jsonb,
	"offer_expires_at" timestamp (3) with time zone,
	"offer_rate_id" text,
	"clearing_id" text,
	"clearing_state" text,
	"failure_reason" text,
	"idempotency_scope" text,
	"idempotency_key" text,
	"fingerprint" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "payment_intent_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "payment_intent_amount" CHECK ("payment_intent"."amount" > 0),
	CONSTRAINT "payment_intent_fee_bps" CHECK ("payment_intent"."fee_bps" BETWEEN 0 AND 10000),
	CONSTRAINT "payment_intent_source_known" CHECK ("payment_intent"."source" IN ('api','cart','payment-link','invoice','subscription','x402','dashboard')),
	CONSTRAINT "payment_intent_status_derived" CHECK (CASE WHEN "payment_intent"."clearing_state" IS NULL THEN "payment_intent"."status" IN ('created','expired','cancelled') WHEN "payment_intent"."clearing_state" IN ('created','awaiting-funds','funds-detected','funds-received','settling','in-review') THEN "payment_intent"."status" = 'clearing' WHEN "payment_intent"."clearing_state" IN ('settled') THEN "payment_intent"."status" = 'completed' WHEN "payment_intent"."clearing_state" IN ('failed','returned','reversed') THEN "payment_intent"."status" = 'failed' WHEN "payment_intent"."clearing_state" IN ('expired') THEN "payment_intent"."status" = 'expired' WHEN "payment_intent"."clearing_state" IN ('cancelled') THEN "payment_intent"."status" = 'cancelled' ELSE false END),
	CONSTRAINT "payment_intent_cleared" CHECK (("payment_intent"."clearing_id" IS NULL) = ("payment_intent"."clearing_state" IS NULL) AND ("payment_intent"."clearing_id" IS NULL) = ("payment_intent"."execution_path" IS NULL)),
	CONSTRAINT "payment_intent_failed" CHECK (CASE "payment_intent"."status" WHEN 'failed' THEN "payment_intent"."failure_reason" IS NOT NULL WHEN 'expired' THEN true ELSE "payment_intent"."failure_reason" IS NULL END),
	CONSTRAINT "payment_intent_offer" CHECK (("payment_intent"."offer_amount" IS NULL) = ("payment_intent"."offer_asset" IS NULL) AND ("payment_intent"."offer_amount" IS NULL) = ("payment_intent"."offer_rails" IS NULL))
);
--> statement-breakpoint
ALTER TABLE "payment_intent" ADD CONSTRAINT "payment_intent_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_intent_write" ON "payment_intent" USING btree ("merchant_id","idempotency_scope","idempotency_key") WHERE "payment_intent"."idempotency_key" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_intent_status" ON "payment_intent" USING btree ("merchant_id","status","id");--> statement-breakpoint
CREATE INDEX "payment_intent_source" ON "payment_intent" USING btree ("merchant_id","source","id");--> statement-breakpoint
CREATE INDEX "payment_intent_rail" ON "payment_intent" USING btree ("merchant_id","payment_chain","payment_asset","id");--> statement-breakpoint
CREATE INDEX "payment_intent_unsettled" ON "payment_intent" USING btree ("merchant_id","clearing_state","id") WHERE "payment_intent"."clearing_state" <> 'settled';--> statement-breakpoint
CREATE INDEX "payment_intent_reference" ON "payment_intent" USING btree ("merchant_id","merchant_reference","id") WHERE "payment_intent"."merchant_reference" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_intent_subscription" ON "payment_intent" USING btree ("merchant_id",(metadata->>'subscriptionId'),"id") WHERE metadata ? 'subscriptionId';--> statement-breakpoint
CREATE INDEX "payment_intent_invoice" ON "payment_intent" USING btree ("merchant_id",(metadata->>'invoiceId'),"id") WHERE metadata ? 'invoiceId';--> statement-breakpoint
CREATE INDEX "payment_intent_expiring" ON "payment_intent" USING btree ("expires_at") WHERE "payment_intent"."status" = 'created';

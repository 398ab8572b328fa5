-- Why: merchant payments: what is asked for (payment_intent), how its money stands (clearing), the orders that payers were
-- shown, what arrived for them, what goes back, and one timeline row for each step. The timeline only grows.
-- Locks: merchant, for the foreign keys, for a moment; the tables are new. Backfill: none.
CREATE TABLE "clearing" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"intent_id" text NOT NULL,
	"state" text NOT NULL,
	"provider" text NOT NULL,
	"provider_reference" text,
	"execution_path" text NOT NULL,
	"chosen_path" text,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"source_amount" numeric(39, 0) NOT NULL,
	"settlement_amount" numeric(39, 0) NOT NULL,
	"fee" numeric(39, 0) NOT NULL,
	"fee_bps" integer NOT NULL,
	"tolerance_bps" integer NOT NULL,
	"rate_from" text NOT NULL,
	"rate_to" text NOT NULL,
	"scaled_rate" numeric(39, 0) NOT NULL,
	"rate_source" text NOT NULL,
	"rate_locked_at" timestamp (3) with time zone NOT NULL,
	"transaction_hash" "bytea",
	"failure_code" text,
	"failure_reason" text,
	"failure_at" timestamp (3) with time zone,
	"order_seq" integer,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"review_required" boolean DEFAULT false NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"failed_steps" integer DEFAULT 0 NOT NULL,
	"settled_at" timestamp (3) with time zone,
	"is_final" boolean DEFAULT false NOT NULL,
	"sequence" integer NOT NULL,
	"due_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "clearing_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "clearing_state_known" CHECK ("clearing"."state" IN ('created','awaiting-funds','funds-detected','funds-received','settling','settled','in-review','expired','failed','cancelled','returned','reversed')),
	CONSTRAINT "clearing_provider_known" CHECK ("clearing"."provider" IN ('evm','sandbox')),
	CONSTRAINT "clearing_path_known" CHECK ("clearing"."execution_path" IN ('deposit-match','on-chain-contract','x402')),
	CONSTRAINT "clearing_rate_source_known" CHECK ("clearing"."rate_source" IN ('identity','parity','peg','coinbase','kraken','median','ecb','fixed','none')),
	CONSTRAINT "clearing_amounts" CHECK ("clearing"."source_amount" > 0 AND "clearing"."settlement_amount" > 0 AND "clearing"."fee" BETWEEN 0 AND "clearing"."settlement_amount"),
	CONSTRAINT "clearing_failure" CHECK (("clearing"."failure_code" IS NULL) = ("clearing"."failure_at" IS NULL) AND ("clearing"."failure_code" IS NULL) = ("clearing"."failure_reason" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "clearing_deposit" (
	"merchant_id" text NOT NULL,
	"clearing_id" text NOT NULL,
	"id" text NOT NULL,
	"order_id" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"tx_hash" "bytea" NOT NULL,
	"ordinal" integer NOT NULL,
	"log_index" integer NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"booking" integer NOT NULL,
	"sender" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"confirmations" integer NOT NULL,
	"is_final" boolean NOT NULL,
	"status" text NOT NULL,
	"is_late" boolean NOT NULL,
	"is_booked" boolean DEFAULT false NOT NULL,
	"to_clearing" numeric(39, 0) DEFAULT 0 NOT NULL,
	"to_overpayment" numeric(39, 0) DEFAULT 0 NOT NULL,
	"to_unmatched" numeric(39, 0) DEFAULT 0 NOT NULL,
	"is_matched" boolean DEFAULT false NOT NULL,
	"is_decided" boolean DEFAULT false NOT NULL,
	"first_seen_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "clearing_deposit_merchant_id_clearing_id_id_pk" PRIMARY KEY("merchant_id","clearing_id","id"),
	CONSTRAINT "clearing_deposit_status_known" CHECK ("clearing_deposit"."status" IN ('seen','confirming','confirmed','credited','orphaned','late','returned','ignored')),
	CONSTRAINT "clearing_deposit_parts" CHECK ("clearing_deposit"."to_clearing" + "clearing_deposit"."to_overpayment" + "clearing_deposit"."to_unmatched" = CASE WHEN "clearing_deposit"."is_booked" THEN "clearing_deposit"."amount" ELSE 0 END)
);
--> statement-breakpoint
CREATE TABLE "clearing_order" (
	"merchant_id" text NOT NULL,
	"clearing_id" text NOT NULL,
	"seq" integer NOT NULL,
	"id" text NOT NULL,
	"path" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"address" "bytea" NOT NULL,
	"pay_to" "bytea" NOT NULL,
	"token" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"rate_id" text NOT NULL,
	"valid_from" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"signature" "bytea" NOT NULL,
	"state" text NOT NULL,
	CONSTRAINT "clearing_order_merchant_id_clearing_id_seq_pk" PRIMARY KEY("merchant_id","clearing_id","seq"),
	CONSTRAINT "clearing_order_amount" CHECK ("clearing_order"."amount" > 0),
	CONSTRAINT "clearing_order_state_known" CHECK ("clearing_order"."state" IN ('active','superseded','expired','consumed'))
);
--> statement-breakpoint
CREATE TABLE "clearing_return" (
	"merchant_id" text NOT NULL,
	"clearing_id" text NOT NULL,
	"id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"source" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"destination" "bytea" NOT NULL,
	"state" text NOT NULL,
	"note" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "clearing_return_merchant_id_clearing_id_id_pk" PRIMARY KEY("merchant_id","clearing_id","id"),
	CONSTRAINT "clearing_return_amount" CHECK ("clearing_return"."amount" > 0),
	CONSTRAINT "clearing_return_state_known" CHECK ("clearing_return"."state" IN ('decided','sending','sent','failed'))
);
--> statement-breakpoint
CREATE TABLE "timeline_entry" (
	"merchant_id" text NOT NULL,
	"clearing_id" text NOT NULL,
	"sequence" integer NOT NULL,
	"state" text NOT NULL,
	"from" text,
	"cause" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "timeline_entry_merchant_id_clearing_id_sequence_pk" PRIMARY KEY("merchant_id","clearing_id","sequence")
);
--> statement-breakpoint
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
	"payer_declared" boolean NOT NULL,
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
ALTER TABLE "clearing" ADD CONSTRAINT "clearing_merchant_id_intent_id_payment_intent_merchant_id_id_fk" FOREIGN KEY ("merchant_id","intent_id") REFERENCES "public"."payment_intent"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clearing_deposit" ADD CONSTRAINT "clearing_deposit_merchant_id_clearing_id_clearing_merchant_id_id_fk" FOREIGN KEY ("merchant_id","clearing_id") REFERENCES "public"."clearing"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clearing_order" ADD CONSTRAINT "clearing_order_merchant_id_clearing_id_clearing_merchant_id_id_fk" FOREIGN KEY ("merchant_id","clearing_id") REFERENCES "public"."clearing"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clearing_return" ADD CONSTRAINT "clearing_return_merchant_id_clearing_id_clearing_merchant_id_id_fk" FOREIGN KEY ("merchant_id","clearing_id") REFERENCES "public"."clearing"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_intent" ADD CONSTRAINT "payment_intent_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "clearing_intent" ON "clearing" USING btree ("merchant_id","intent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "clearing_settlement" ON "clearing" USING btree ("merchant_id","provider_reference") WHERE "clearing"."execution_path" = 'x402';--> statement-breakpoint
CREATE INDEX "clearing_due" ON "clearing" USING btree ("due_at") WHERE "clearing"."due_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "clearing_review" ON "clearing" USING btree ("merchant_id","intent_id") WHERE "clearing"."review_required";--> statement-breakpoint
CREATE INDEX "clearing_transaction" ON "clearing" USING btree ("merchant_id","transaction_hash") WHERE "clearing"."transaction_hash" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "clearing_deposit_log" ON "clearing_deposit" USING btree ("merchant_id","order_id","tx_hash","ordinal");--> statement-breakpoint
CREATE INDEX "clearing_deposit_transaction" ON "clearing_deposit" USING btree ("merchant_id","tx_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "clearing_order_live" ON "clearing_order" USING btree ("merchant_id","clearing_id") WHERE "clearing_order"."state" IN ('active','expired');--> statement-breakpoint
CREATE INDEX "clearing_return_id" ON "clearing_return" USING btree ("merchant_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_intent_write" ON "payment_intent" USING btree ("merchant_id","idempotency_scope","idempotency_key") WHERE "payment_intent"."idempotency_key" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_intent_status" ON "payment_intent" USING btree ("merchant_id","status","id");--> statement-breakpoint
CREATE INDEX "payment_intent_source" ON "payment_intent" USING btree ("merchant_id","source","id");--> statement-breakpoint
CREATE INDEX "payment_intent_rail" ON "payment_intent" USING btree ("merchant_id","payment_chain","payment_asset","id");--> statement-breakpoint
CREATE INDEX "payment_intent_unsettled" ON "payment_intent" USING btree ("merchant_id","clearing_state","id") WHERE "payment_intent"."clearing_state" <> 'settled';--> statement-breakpoint
CREATE INDEX "payment_intent_reference" ON "payment_intent" USING btree ("merchant_id","merchant_reference","id") WHERE "payment_intent"."merchant_reference" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_intent_subscription" ON "payment_intent" USING btree ("merchant_id",(metadata->>'subscriptionId'),"id") WHERE metadata ? 'subscriptionId';--> statement-breakpoint
CREATE INDEX "payment_intent_invoice" ON "payment_intent" USING btree ("merchant_id",(metadata->>'invoiceId'),"id") WHERE metadata ? 'invoiceId';--> statement-breakpoint
CREATE INDEX "payment_intent_expiring" ON "payment_intent" USING btree ("expires_at") WHERE "payment_intent"."status" = 'created';--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON "timeline_entry" FROM farebox_app;--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "payment_intent", "clearing", "clearing_order", "clearing_deposit", "clearing_return" FROM farebox_app;--> statement-breakpoint
CREATE TRIGGER timeline_entry_rows BEFORE UPDATE OR DELETE ON "timeline_entry" FOR EACH ROW EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER timeline_entry_truncate BEFORE TRUNCATE ON "timeline_entry" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE "ledger_account" (
	"id" "bytea" PRIMARY KEY NOT NULL,
	"path" text NOT NULL,
	"type" text NOT NULL,
	"asset" text NOT NULL,
	"merchant_id" text,
	"bounded" boolean NOT NULL,
	CONSTRAINT "ledger_account_path_asset" UNIQUE("path","asset"),
	CONSTRAINT "ledger_account_id_asset" UNIQUE("id","asset"),
	CONSTRAINT "ledger_account_type" CHECK ("ledger_account"."type" IN ('asset','liability','income','expense','equity'))
);
--> statement-breakpoint
CREATE TABLE "ledger_balance" (
	"account_id" "bytea" PRIMARY KEY NOT NULL,
	"bounded" boolean NOT NULL,
	"debits_posted" numeric(39, 0) DEFAULT 0 NOT NULL,
	"credits_posted" numeric(39, 0) DEFAULT 0 NOT NULL,
	"debits_pending" numeric(39, 0) DEFAULT 0 NOT NULL,
	"credits_pending" numeric(39, 0) DEFAULT 0 NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "ledger_balance_not_negative" CHECK ("ledger_balance"."debits_posted" >= 0 AND "ledger_balance"."credits_posted" >= 0 AND "ledger_balance"."debits_pending" >= 0 AND "ledger_balance"."credits_pending" >= 0),
	CONSTRAINT "ledger_balance_bounded" CHECK (NOT "ledger_balance"."bounded" OR "ledger_balance"."debits_posted" + "ledger_balance"."debits_pending" <= "ledger_balance"."credits_posted")
);
--> statement-breakpoint
CREATE TABLE "ledger_transfer" (
	"id" "bytea" PRIMARY KEY NOT NULL,
	"entry_id" "bytea" NOT NULL,
	"leg" text NOT NULL,
	"event_key" text NOT NULL,
	"code" text NOT NULL,
	"debit_account" "bytea" NOT NULL,
	"credit_account" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"asset" text NOT NULL,
	"phase" text NOT NULL,
	"ref" "bytea",
	"subject" text,
	"block_number" bigint,
	"sequence" smallint NOT NULL,
	"posted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ledger_transfer_amount" CHECK ("ledger_transfer"."amount" > 0),
	CONSTRAINT "ledger_transfer_two_accounts" CHECK ("ledger_transfer"."debit_account" <> "ledger_transfer"."credit_account"),
	CONSTRAINT "ledger_transfer_phase" CHECK ("ledger_transfer"."phase" IN ('single','pending','post','void')),
	CONSTRAINT "ledger_transfer_ref_phase" CHECK (("ledger_transfer"."ref" IS NOT NULL) = ("ledger_transfer"."phase" IN ('post','void')))
);
--> statement-breakpoint
CREATE TABLE "payable" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"merchant_id" text NOT NULL,
	"merchant_name" text NOT NULL,
	"url" text NOT NULL,
	"title" text,
	"description" text NOT NULL,
	"mime_type" text NOT NULL,
	"price_amount" numeric(39, 0) NOT NULL,
	"price_asset" text NOT NULL,
	"rails" jsonb NOT NULL,
	"max_timeout_seconds" integer NOT NULL,
	"payment_flow" text NOT NULL,
	"service_name" text,
	"tags" jsonb NOT NULL,
	"icon_url" text,
	"extensions" jsonb NOT NULL,
	"fee_bps" integer NOT NULL,
	"once" boolean NOT NULL,
	"held_by" "bytea",
	"listed" boolean NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payable_price_positive" CHECK ("payable"."price_amount" > 0),
	CONSTRAINT "payable_fee_bps" CHECK ("payable"."fee_bps" BETWEEN 0 AND 10000)
);
--> statement-breakpoint
CREATE TABLE "attempt" (
	"slot_id" text NOT NULL,
	"seq" integer NOT NULL,
	"tx_hash" "bytea" NOT NULL,
	"raw" "bytea" NOT NULL,
	"max_fee" numeric(39, 0) NOT NULL,
	"tip" numeric(39, 0) NOT NULL,
	"gas_limit" numeric(39, 0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "attempt_slot_id_seq_pk" PRIMARY KEY("slot_id","seq"),
	CONSTRAINT "attempt_tx_hash_unique" UNIQUE("tx_hash")
);
--> statement-breakpoint
CREATE TABLE "chain_block" (
	"chain_id" bigint NOT NULL,
	"number" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	"parent" "bytea" NOT NULL,
	"timestamp" bigint NOT NULL,
	"canonical" boolean NOT NULL,
	CONSTRAINT "chain_block_chain_id_hash_pk" PRIMARY KEY("chain_id","hash")
);
--> statement-breakpoint
CREATE TABLE "chain_transfer" (
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"tx_hash" "bytea" NOT NULL,
	"log_index" integer NOT NULL,
	"token" "bytea" NOT NULL,
	"sender" "bytea" NOT NULL,
	"recipient" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"block_time" timestamp (3) with time zone NOT NULL,
	"canonical" boolean NOT NULL,
	"authorization_key" "bytea",
	"claimed_by" "bytea",
	"claimed_kind" text,
	"booked_final" boolean DEFAULT false NOT NULL,
	CONSTRAINT "chain_transfer_chain_id_block_hash_log_index_pk" PRIMARY KEY("chain_id","block_hash","log_index")
);
--> statement-breakpoint
CREATE TABLE "claim" (
	"claim_key" "bytea" PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"kind" text NOT NULL,
	"merchant_id" text NOT NULL,
	"payable_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"method" text NOT NULL,
	"nonce_domain" "bytea" NOT NULL,
	"payer" "bytea" NOT NULL,
	"nonce" "bytea" NOT NULL,
	"token" "bytea" NOT NULL,
	"pay_to" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"fee" numeric(39, 0) NOT NULL,
	"valid_after" numeric(39, 0) NOT NULL,
	"valid_before" numeric(39, 0) NOT NULL,
	"signature" "bytea" NOT NULL,
	"payer_has_code" boolean NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"message" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"taken_until" timestamp (3) with time zone,
	"credit_epoch" integer DEFAULT 0 NOT NULL,
	"credit_state" text DEFAULT 'none' NOT NULL,
	"included_block" bigint,
	"included_hash" "bytea",
	"included_tx" "bytea",
	"included_log" integer,
	"included_at" timestamp (3) with time zone,
	"settled_by" text,
	"spent_block" bigint,
	"spent_hash" "bytea",
	"holds_payable" boolean DEFAULT false NOT NULL,
	"success_granted_to" text,
	"success_granted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "claim_id_unique" UNIQUE("id"),
	CONSTRAINT "claim_authorization" UNIQUE("chain_id","nonce_domain","payer","nonce"),
	CONSTRAINT "claim_amount" CHECK ("claim"."amount" > 0 AND "claim"."fee" >= 0 AND "claim"."fee" <= "claim"."amount"),
	CONSTRAINT "claim_state" CHECK ("claim"."state" IN ('claimed','submitting','included','final','failed-watch','review','expired','cancelled')),
	CONSTRAINT "claim_credit_state" CHECK ("claim"."credit_state" IN ('none','credited','final')),
	CONSTRAINT "claim_credit_place" CHECK (("claim"."credit_state" = 'none') = ("claim"."included_block" IS NULL) AND ("claim"."credit_state" = 'none') = ("claim"."state" NOT IN ('included','final')))
);
--> statement-breakpoint
CREATE TABLE "claim_event" (
	"claim_key" "bytea" NOT NULL,
	"version" integer NOT NULL,
	"state" text NOT NULL,
	"from" text,
	"cause" text NOT NULL,
	"occurred_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "claim_event_claim_key_version_pk" PRIMARY KEY("claim_key","version")
);
--> statement-breakpoint
CREATE TABLE "observer" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"start_block" bigint NOT NULL,
	"cursor_number" bigint NOT NULL,
	"cursor_hash" "bytea" NOT NULL,
	"finalized_number" bigint NOT NULL,
	"lease_holder" text,
	"fence" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"halted_reason" text
);
--> statement-breakpoint
CREATE TABLE "settle_answer" (
	"scope" text NOT NULL,
	"id" text NOT NULL,
	"payload_hash" "bytea" NOT NULL,
	"claim_key" "bytea" NOT NULL,
	"body" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "settle_answer_scope_id_pk" PRIMARY KEY("scope","id")
);
--> statement-breakpoint
CREATE TABLE "signer" (
	"chain_id" bigint NOT NULL,
	"address" "bytea" NOT NULL,
	"next_nonce" integer NOT NULL,
	"lease_holder" text,
	"fence" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"state" text DEFAULT 'active' NOT NULL,
	CONSTRAINT "signer_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);
--> statement-breakpoint
CREATE TABLE "slot" (
	"id" text PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"signer" "bytea" NOT NULL,
	"nonce" integer NOT NULL,
	"open" boolean DEFAULT true NOT NULL,
	"sent_at_block" bigint NOT NULL,
	"mined_block" bigint,
	"mined_hash" "bytea",
	"mined_tx" "bytea",
	"sorted" boolean DEFAULT false NOT NULL,
	"gas_wei" numeric(39, 0),
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "slot_nonce" UNIQUE("chain_id","signer","nonce")
);
--> statement-breakpoint
CREATE TABLE "slot_item" (
	"slot_id" text NOT NULL,
	"claim_key" "bytea" NOT NULL,
	"idx" integer NOT NULL,
	"open" boolean DEFAULT true NOT NULL,
	CONSTRAINT "slot_item_slot_id_idx_pk" PRIMARY KEY("slot_id","idx")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"subject" text NOT NULL,
	"merchant_id" text NOT NULL,
	"payload" jsonb NOT NULL,
	"occurred_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_key" (
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"resource_id" text,
	"status" integer,
	"headers" jsonb,
	"body" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_key_scope_key_pk" PRIMARY KEY("scope","key")
);
--> statement-breakpoint
CREATE TABLE "api_key" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"key_id" text NOT NULL,
	"kind" text NOT NULL,
	"hmac" "bytea" NOT NULL,
	"last4" text NOT NULL,
	"name" text NOT NULL,
	"permissions" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_key_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "api_key_key_id" UNIQUE("key_id"),
	CONSTRAINT "api_key_kind" CHECK ("api_key"."kind" IN ('sk', 'pk'))
);
--> statement-breakpoint
CREATE TABLE "merchant" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"city" text NOT NULL,
	"country_code" text NOT NULL,
	"fee_bps" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "merchant_fee_bps" CHECK ("merchant"."fee_bps" BETWEEN 0 AND 10000),
	CONSTRAINT "merchant_country_code" CHECK ("merchant"."country_code" ~ '^[A-Z]{2}$')
);
--> statement-breakpoint
CREATE TABLE "resource" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"url" text NOT NULL,
	"description" text NOT NULL,
	"mime_type" text NOT NULL,
	"price_amount" numeric(39, 0) NOT NULL,
	"price_asset" text NOT NULL,
	"rails" jsonb NOT NULL,
	"max_timeout_seconds" integer NOT NULL,
	"payment_flow" text NOT NULL,
	"service_name" text,
	"tags" jsonb NOT NULL,
	"icon_url" text,
	"extensions" jsonb NOT NULL,
	"listed" boolean NOT NULL,
	"archived_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "resource_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "resource_price_positive" CHECK ("resource"."price_amount" > 0),
	CONSTRAINT "resource_timeout" CHECK ("resource"."max_timeout_seconds" BETWEEN 30 AND 600)
);
--> statement-breakpoint
ALTER TABLE "ledger_balance" ADD CONSTRAINT "ledger_balance_account_id_ledger_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."ledger_account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_transfer" ADD CONSTRAINT "ledger_transfer_debit_account_asset_ledger_account_id_asset_fk" FOREIGN KEY ("debit_account","asset") REFERENCES "public"."ledger_account"("id","asset") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_transfer" ADD CONSTRAINT "ledger_transfer_credit_account_asset_ledger_account_id_asset_fk" FOREIGN KEY ("credit_account","asset") REFERENCES "public"."ledger_account"("id","asset") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_slot_id_slot_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slot"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "slot_item" ADD CONSTRAINT "slot_item_slot_id_slot_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slot"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "slot_item" ADD CONSTRAINT "slot_item_claim_key_claim_claim_key_fk" FOREIGN KEY ("claim_key") REFERENCES "public"."claim"("claim_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resource" ADD CONSTRAINT "resource_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ledger_account_merchant" ON "ledger_account" USING btree ("merchant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_transfer_ref" ON "ledger_transfer" USING btree ("ref") WHERE "ledger_transfer"."ref" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "ledger_transfer_entry" ON "ledger_transfer" USING btree ("entry_id");--> statement-breakpoint
CREATE INDEX "ledger_transfer_subject" ON "ledger_transfer" USING btree ("subject");--> statement-breakpoint
CREATE UNIQUE INDEX "payable_open_url" ON "payable" USING btree ("url") WHERE "payable"."closed_at" IS NULL;--> statement-breakpoint
CREATE INDEX "payable_listed" ON "payable" USING btree ("created_at","id") WHERE "payable"."listed" AND "payable"."closed_at" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "chain_block_canonical" ON "chain_block" USING btree ("chain_id","number") WHERE "chain_block"."canonical";--> statement-breakpoint
CREATE UNIQUE INDEX "chain_transfer_log" ON "chain_transfer" USING btree ("chain_id","tx_hash","log_index") WHERE "chain_transfer"."canonical";--> statement-breakpoint
CREATE UNIQUE INDEX "chain_transfer_claimed" ON "chain_transfer" USING btree ("claimed_by") WHERE "chain_transfer"."claimed_kind" = 'x402' AND "chain_transfer"."canonical";--> statement-breakpoint
CREATE INDEX "chain_transfer_authorization" ON "chain_transfer" USING btree ("authorization_key") WHERE "chain_transfer"."canonical";--> statement-breakpoint
CREATE INDEX "chain_transfer_uncredited" ON "chain_transfer" USING btree ("chain_id","block_number") WHERE "chain_transfer"."canonical" AND "chain_transfer"."claimed_kind" IS DISTINCT FROM 'x402';--> statement-breakpoint
CREATE INDEX "claim_queue" ON "claim" USING btree ("chain_id","created_at") WHERE "claim"."state" = 'claimed';--> statement-breakpoint
CREATE INDEX "claim_open_payer" ON "claim" USING btree ("chain_id","token","payer") WHERE "claim"."state" IN ('claimed','submitting');--> statement-breakpoint
CREATE INDEX "claim_included" ON "claim" USING btree ("chain_id","included_block") WHERE "claim"."state" = 'included';--> statement-breakpoint
CREATE INDEX "claim_unpaid" ON "claim" USING btree ("chain_id","valid_before") WHERE "claim"."state" IN ('claimed','submitting','failed-watch','review');--> statement-breakpoint
CREATE INDEX "settle_answer_claim" ON "settle_answer" USING btree ("claim_key");--> statement-breakpoint
CREATE INDEX "slot_open" ON "slot" USING btree ("chain_id","signer","nonce") WHERE "slot"."open";--> statement-breakpoint
CREATE UNIQUE INDEX "slot_item_open" ON "slot_item" USING btree ("claim_key") WHERE "slot_item"."open";--> statement-breakpoint
CREATE INDEX "slot_item_claim" ON "slot_item" USING btree ("claim_key");--> statement-breakpoint
CREATE INDEX "outbox_undelivered" ON "outbox" USING btree ("id") WHERE "outbox"."delivered_at" IS NULL;--> statement-breakpoint
CREATE INDEX "idempotency_key_expires" ON "idempotency_key" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "api_key_merchant" ON "api_key" USING btree ("merchant_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "resource_live_url" ON "resource" USING btree ("merchant_id","url") WHERE "resource"."archived_at" IS NULL;
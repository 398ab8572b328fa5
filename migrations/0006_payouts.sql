CREATE TABLE "counted_fact" (
	"id" text PRIMARY KEY NOT NULL,
	"counted_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "listing" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"once" boolean NOT NULL,
	"merchant_id" text NOT NULL,
	"domain" text NOT NULL,
	"looks" text[] NOT NULL,
	"words" "tsvector" NOT NULL,
	"price_amount" numeric(39, 0) NOT NULL,
	"price_asset" text NOT NULL,
	"rails" text[] NOT NULL,
	"extensions" text[] NOT NULL,
	"standing" smallint NOT NULL,
	"host_verified" boolean NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payable_payer" (
	"payable_id" text NOT NULL,
	"payer" "bytea" NOT NULL,
	"last_paid_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payable_payer_payable_id_payer_pk" PRIMARY KEY("payable_id","payer")
);
--> statement-breakpoint
CREATE TABLE "payable_trust" (
	"payable_id" text PRIMARY KEY NOT NULL,
	"settled_count" bigint DEFAULT 0 NOT NULL,
	"distinct_payers" integer DEFAULT 0 NOT NULL,
	"host_verified" boolean DEFAULT false NOT NULL,
	"probe_at" timestamp (3) with time zone,
	"probe_status" smallint,
	"probe_ok" boolean DEFAULT false NOT NULL,
	"warning" text
);
--> statement-breakpoint
CREATE TABLE "payout" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"destination" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payout_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "payout_amount" CHECK ("payout"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "payout_address" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"chain" text NOT NULL,
	"address" "bytea" NOT NULL,
	"label" text NOT NULL,
	"usable_from" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"removed_at" timestamp (3) with time zone,
	CONSTRAINT "payout_address_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
CREATE TABLE "rate_snapshot" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"from_asset" text NOT NULL,
	"to_asset" text NOT NULL,
	"scaled_rate" numeric(39, 0) NOT NULL,
	"source" text NOT NULL,
	"spread_bps" integer NOT NULL,
	"inputs" jsonb NOT NULL,
	"locked_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "rate_snapshot_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "rate_snapshot_positive" CHECK ("rate_snapshot"."scaled_rate" > 0),
	CONSTRAINT "rate_snapshot_spread" CHECK ("rate_snapshot"."spread_bps" BETWEEN 0 AND 300),
	CONSTRAINT "rate_snapshot_source" CHECK ("rate_snapshot"."source" IN ('identity', 'parity', 'peg', 'coinbase', 'kraken', 'median', 'ecb', 'fixed'))
);
--> statement-breakpoint
DROP INDEX "payable_listed";--> statement-breakpoint
ALTER TABLE "payout" ADD CONSTRAINT "payout_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payout_address" ADD CONSTRAINT "payout_address_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_snapshot" ADD CONSTRAINT "rate_snapshot_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "counted_fact_at" ON "counted_fact" USING btree ("counted_at");--> statement-breakpoint
CREATE INDEX "listing_words" ON "listing" USING gin ("words");--> statement-breakpoint
CREATE INDEX "listing_rank" ON "listing" USING btree ("standing" DESC NULLS LAST,"created_at","id");--> statement-breakpoint
CREATE INDEX "listing_verified_looks" ON "listing" USING gin ("looks") WHERE "listing"."host_verified";--> statement-breakpoint
CREATE INDEX "payable_payer_last_paid" ON "payable_payer" USING btree ("last_paid_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payout_address_live" ON "payout_address" USING btree ("merchant_id","chain","address") WHERE "payout_address"."removed_at" IS NULL;
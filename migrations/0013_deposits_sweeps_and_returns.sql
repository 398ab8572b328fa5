-- Why: merchant payments. Orders that payers are asked to pay (each with an address of its own, or through our router),
-- which transfers reached them, the sweeps that take what lies on deposit addresses into the treasury, refunds and returns
-- beside payouts, and books against chain for deposit addresses as well. What is told of an x402 claim is called
-- `settlement.…` from now on: `payment.…` is the merchant's payment.
-- Locks: ACCESS EXCLUSIVE on chain_transfer, claim, outgoing and reconciliation; new columns have constant defaults, so no
-- row is rewritten. The checks on claim and outgoing read their tables once; the indexes on chain_transfer find no row yet.
-- Backfill: facts that wait in the outbox get their new names.
CREATE SEQUENCE "public"."deposit_address_index" INCREMENT BY 1 MINVALUE 0 MAXVALUE 9223372036854775807 START WITH 0 CACHE 1;--> statement-breakpoint
CREATE TABLE "deposit_order" (
	"order_id" text PRIMARY KEY NOT NULL,
	"merchant_id" text NOT NULL,
	"subject" text NOT NULL,
	"path" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"address" "bytea" NOT NULL,
	"address_index" integer,
	"payment_ref" "bytea" NOT NULL,
	"deadline" timestamp (3) with time zone NOT NULL,
	"watched_until" timestamp (3) with time zone NOT NULL,
	"written_in" bigint DEFAULT (pg_current_xact_id()::text::bigint) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deposit_order_amount" CHECK ("deposit_order"."amount" > 0),
	CONSTRAINT "deposit_order_path" CHECK ("deposit_order"."path" IN ('deposit-match','on-chain-contract')),
	CONSTRAINT "deposit_order_own_address" CHECK (("deposit_order"."path" = 'deposit-match') = ("deposit_order"."address_index" IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "sweep" (
	"claim_key" "bytea" PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	"seq" integer NOT NULL,
	"open" boolean DEFAULT true NOT NULL,
	CONSTRAINT "sweep_seq" UNIQUE("chain_id","token","address","seq")
);
--> statement-breakpoint
ALTER TABLE "claim" DROP CONSTRAINT "claim_kind";--> statement-breakpoint
ALTER TABLE "outgoing" DROP CONSTRAINT "outgoing_amount";--> statement-breakpoint
DROP INDEX "reconciliation_latest";--> statement-breakpoint
ALTER TABLE "chain_transfer" ADD COLUMN "ordinal" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "chain_transfer" ADD COLUMN "payment_ref" "bytea";--> statement-breakpoint
ALTER TABLE "chain_transfer" ADD COLUMN "order_id" text;--> statement-breakpoint
ALTER TABLE "chain_transfer" ADD COLUMN "swept_by" "bytea";--> statement-breakpoint
ALTER TABLE "outgoing" ADD COLUMN "fee_share" numeric(39, 0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outgoing" ADD COLUMN "source" text;--> statement-breakpoint
ALTER TABLE "outgoing" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "reconciliation" ADD COLUMN "place" text DEFAULT 'treasury' NOT NULL;--> statement-breakpoint
ALTER TABLE "reconciliation" ADD COLUMN "waiting" numeric(39, 0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sweep" ADD CONSTRAINT "sweep_claim_key_claim_claim_key_fk" FOREIGN KEY ("claim_key") REFERENCES "public"."claim"("claim_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "deposit_order_index" ON "deposit_order" USING btree ("address_index");--> statement-breakpoint
CREATE INDEX "deposit_order_address" ON "deposit_order" USING btree ("address");--> statement-breakpoint
CREATE INDEX "deposit_order_subject" ON "deposit_order" USING btree ("subject");--> statement-breakpoint
CREATE INDEX "deposit_order_reference" ON "deposit_order" USING btree ("chain_id","payment_ref");--> statement-breakpoint
CREATE INDEX "deposit_order_written" ON "deposit_order" USING btree ("chain_id","written_in") WHERE "deposit_order"."address_index" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "sweep_open" ON "sweep" USING btree ("chain_id","token","address") WHERE "sweep"."open";--> statement-breakpoint
CREATE INDEX "chain_transfer_order" ON "chain_transfer" USING btree ("order_id") WHERE "chain_transfer"."order_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "chain_transfer_unswept" ON "chain_transfer" USING btree ("chain_id","block_number") WHERE "chain_transfer"."canonical" AND "chain_transfer"."claimed_kind" = 'deposit' AND "chain_transfer"."swept_by" IS NULL;--> statement-breakpoint
CREATE INDEX "chain_transfer_swept" ON "chain_transfer" USING btree ("swept_by") WHERE "chain_transfer"."swept_by" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "claim_payable" ON "claim" USING btree ("payable_id") WHERE "claim"."holds_payable";--> statement-breakpoint
CREATE INDEX "reconciliation_latest" ON "reconciliation" USING btree ("chain_id","asset","place","id");--> statement-breakpoint
ALTER TABLE "claim" ADD CONSTRAINT "claim_kind" CHECK ("claim"."kind" IN ('x402','sweep','payout','refund','return'));--> statement-breakpoint
ALTER TABLE "outgoing" ADD CONSTRAINT "outgoing_kind" CHECK ("outgoing"."kind" IN ('payout','refund','return'));--> statement-breakpoint
ALTER TABLE "outgoing" ADD CONSTRAINT "outgoing_refund" CHECK ("outgoing"."fee_share" = 0 OR "outgoing"."kind" = 'refund');--> statement-breakpoint
ALTER TABLE "outgoing" ADD CONSTRAINT "outgoing_return" CHECK (("outgoing"."kind" = 'return') = ("outgoing"."source" IS NOT NULL AND "outgoing"."subject" IS NOT NULL));--> statement-breakpoint
ALTER TABLE "outgoing" ADD CONSTRAINT "outgoing_amount" CHECK ("outgoing"."amount" > 0 AND "outgoing"."fee_share" >= 0 AND "outgoing"."fee_share" <= "outgoing"."amount");--> statement-breakpoint
GRANT USAGE ON SEQUENCE deposit_address_index TO farebox_app;--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON deposit_order, sweep FROM farebox_app;--> statement-breakpoint
UPDATE outbox SET type = 'settlement.' || substr(type, 9) WHERE delivered_at IS NULL AND type LIKE 'payment.%';

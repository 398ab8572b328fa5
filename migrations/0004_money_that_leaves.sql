CREATE TABLE "outgoing" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"merchant_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"recipient" "bytea" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"claim_key" "bytea",
	"cancelled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outgoing_amount" CHECK ("outgoing"."amount" > 0)
);
--> statement-breakpoint
DROP INDEX "chain_transfer_claimed";--> statement-breakpoint
DROP INDEX "chain_transfer_uncredited";--> statement-breakpoint
ALTER TABLE "outgoing" ADD CONSTRAINT "outgoing_claim_key_claim_claim_key_fk" FOREIGN KEY ("claim_key") REFERENCES "public"."claim"("claim_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "outgoing_waiting" ON "outgoing" USING btree ("chain_id","created_at") WHERE "outgoing"."claim_key" IS NULL AND "outgoing"."cancelled_at" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "chain_transfer_claimed" ON "chain_transfer" USING btree ("claimed_by") WHERE "chain_transfer"."claimed_kind" <> 'unmatched' AND "chain_transfer"."canonical";--> statement-breakpoint
CREATE INDEX "chain_transfer_uncredited" ON "chain_transfer" USING btree ("chain_id","block_number") WHERE "chain_transfer"."canonical" AND ("chain_transfer"."claimed_kind" IS NULL OR "chain_transfer"."claimed_kind" = 'unmatched');--> statement-breakpoint
ALTER TABLE "claim" ADD CONSTRAINT "claim_kind" CHECK ("claim"."kind" IN ('x402','payout'));
-- Why: a payer who proves the wallet that paid says where a refund goes, and each nonce of such a proof counts once; pages and
-- documents of a merchant may show its colour and its picture. Claims are never changed nor deleted: they are the evidence.
-- Locks: merchant, for a moment: nullable columns without a default rewrite nothing, and the check reads a short table.
-- Backfill: none.
CREATE TABLE "merchant_logo" (
	"merchant_id" text PRIMARY KEY NOT NULL,
	"digest" "bytea" NOT NULL,
	"png" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refund_claim" (
	"merchant_id" text NOT NULL,
	"nonce" text NOT NULL,
	"clearing_id" text NOT NULL,
	"account" "bytea" NOT NULL,
	"destination" "bytea" NOT NULL,
	"message" text NOT NULL,
	"signature" text NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "refund_claim_merchant_id_nonce_pk" PRIMARY KEY("merchant_id","nonce")
);
--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "brand_colour" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "logo" "bytea";--> statement-breakpoint
ALTER TABLE "merchant_logo" ADD CONSTRAINT "merchant_logo_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refund_claim" ADD CONSTRAINT "refund_claim_merchant_id_clearing_id_clearing_merchant_id_id_fk" FOREIGN KEY ("merchant_id","clearing_id") REFERENCES "public"."clearing"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "merchant_logo_digest" ON "merchant_logo" USING btree ("digest");--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_brand_colour" CHECK ("merchant"."brand_colour" ~ '^#[0-9a-f]{6}$');--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON "refund_claim" FROM farebox_app;

-- Why: money of payments that goes back to who paid: what was asked for, and where it stands. The key of the request stays
-- with the refund, so that it holds after its record was pruned. Locks: clearing, for the foreign key, for a moment; the
-- table is new. Backfill: none.
CREATE TABLE "refund" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"clearing_id" text NOT NULL,
	"intent_id" text NOT NULL,
	"state" text NOT NULL,
	"provider" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"fee" numeric(39, 0) NOT NULL,
	"returns_fee" boolean NOT NULL,
	"reason" text NOT NULL,
	"destination" "bytea",
	"metadata" jsonb NOT NULL,
	"provider_reference" text,
	"failure_reason" text,
	"reserved_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone,
	"idempotency_scope" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "refund_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "refund_amount" CHECK ("refund"."amount" > 0 AND "refund"."fee" >= 0 AND "refund"."fee" <= "refund"."amount"),
	CONSTRAINT "refund_state" CHECK ("refund"."state" IN ('requires-destination','pending','processing','succeeded','failed','cancelled')),
	CONSTRAINT "refund_reason" CHECK ("refund"."reason" IN ('requested-by-customer','duplicate','fraudulent','overpayment','order-cancelled','other')),
	CONSTRAINT "refund_destination" CHECK ("refund"."destination" IS NOT NULL OR "refund"."provider" <> 'evm' OR "refund"."state" IN ('requires-destination','cancelled')),
	CONSTRAINT "refund_reserved" CHECK ("refund"."reserved_at" IS NOT NULL OR "refund"."state" IN ('requires-destination','pending','cancelled')),
	CONSTRAINT "refund_over" CHECK ("refund"."due_at" IS NULL OR "refund"."state" IN ('requires-destination','pending','processing')),
	CONSTRAINT "refund_failed" CHECK (("refund"."state" = 'failed') = ("refund"."failure_reason" IS NOT NULL))
);
--> statement-breakpoint
ALTER TABLE "refund" ADD CONSTRAINT "refund_merchant_id_clearing_id_clearing_merchant_id_id_fk" FOREIGN KEY ("merchant_id","clearing_id") REFERENCES "public"."clearing"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "refund_write" ON "refund" USING btree ("merchant_id","idempotency_scope","idempotency_key");--> statement-breakpoint
CREATE INDEX "refund_clearing" ON "refund" USING btree ("merchant_id","clearing_id","id");--> statement-breakpoint
CREATE INDEX "refund_promised" ON "refund" USING btree ("merchant_id","chain","asset") WHERE "refund"."reserved_at" IS NULL AND "refund"."state" IN ('pending','requires-destination');--> statement-breakpoint
CREATE INDEX "refund_due" ON "refund" USING btree ("due_at") WHERE "refund"."due_at" IS NOT NULL;

-- Why: what left a treasury by no order of ours stopped payouts of its token for good; an operator can book it now, and this
-- keeps what was said. Nobody changes it later.
-- Locks: none that anybody waits for. Backfill: none.
CREATE TABLE "outflow_booking" (
	"chain_id" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"log_index" integer NOT NULL,
	"merchant_id" text,
	"reason" text NOT NULL,
	"booked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outflow_booking_chain_id_block_hash_log_index_pk" PRIMARY KEY("chain_id","block_hash","log_index")
);
--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON "outflow_booking" FROM farebox_app;

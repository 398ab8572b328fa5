-- Why: where another treasury was configured, payments to the one before were never credited, and payouts were signed for money
-- that the new one does not have; now a start knows which one it was, and refuses while something of it is left.
-- Locks: none that anybody waits for. Backfill: none; a chain learns its treasury at the next start.
CREATE TABLE "chain_treasury" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"address" "bytea" NOT NULL
);
--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "chain_treasury" FROM farebox_app;

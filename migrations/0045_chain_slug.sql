-- Why: assets are named by a chain's slug; where it was given to another chain id, the money of two chains was one balance, and
-- under another slug a chain began anew with empty books. Now a start knows which slug is which chain's, and refuses another.
-- Locks: none that anybody waits for. Backfill: none; a chain's slug is learned at the next start.
CREATE TABLE "chain_slug" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	CONSTRAINT "chain_slug_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON "chain_slug" FROM farebox_app;

-- Why: a token that was listed after its chain was followed had no opening in the books, and what moved in one that had left the
-- list was never recorded; now it is written down from which block on each token is followed.
-- Locks: none that anybody waits for. Backfill: the tokens that were seen so far; one that never moved is opened anew by what
-- the treasury holds.
CREATE TABLE "followed_token" (
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"since_block" bigint NOT NULL,
	CONSTRAINT "followed_token_chain_id_token_pk" PRIMARY KEY("chain_id","token")
);
--> statement-breakpoint
INSERT INTO "followed_token" ("chain_id", "token", "since_block")
SELECT DISTINCT chain_transfer.chain_id, token, start_block FROM "chain_transfer" JOIN "observer" ON observer.chain_id = chain_transfer.chain_id;

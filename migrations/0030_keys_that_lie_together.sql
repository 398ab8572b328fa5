-- Why: keys are hashes, so each index on one costs a settle a page of its own, read and written whole once it is old. A claim's key
-- is the hash of its authorization and a transfer's id that of its entry and leg: one index says it, the second said it again.
-- Locks: ledger_transfer and claim, against everything, while the one is sorted and the other is read once. Backfill: none.
ALTER TABLE "claim" DROP CONSTRAINT "claim_authorization";--> statement-breakpoint
ALTER TABLE "claim" ADD CONSTRAINT "claim_key_of_authorization" CHECK ("claim"."claim_key" = sha256('farebox/claim/v1'::bytea || '\x000000000000000000000000000000000000000000000000'::bytea || int8send("claim"."chain_id") || "claim"."nonce_domain" || "claim"."payer" || "claim"."nonce"));--> statement-breakpoint
DROP INDEX "ledger_transfer_entry";--> statement-breakpoint
ALTER TABLE "ledger_transfer" DROP CONSTRAINT "ledger_transfer_pkey";--> statement-breakpoint
ALTER TABLE "ledger_transfer" ADD CONSTRAINT "ledger_transfer_entry_id_leg_pk" PRIMARY KEY("entry_id","leg");

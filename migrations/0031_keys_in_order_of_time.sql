-- Why: eight of the index pages that a settle changes lie anywhere, since their keys are hashes. A claim's events go by its id, which begins
-- with the time; its slot is named in its own row; one index tells an authorization's transfers, and which of them is claimed; what
-- posts or voids a pending entry is its neighbour in the index of entries, which has room for one of the two.
-- Locks: claim, claim_event, chain_transfer and ledger_transfer, against everything, while each is read and written once.
-- Backfill: ids of claims in claim_event, each claim's newest slot, and the ids of entries that resolve another; no amount is touched.
ALTER TABLE "claim_event" ADD COLUMN "claim_id" text;
--> statement-breakpoint
ALTER TABLE "claim_event" DISABLE TRIGGER "claim_event_rows";
--> statement-breakpoint
UPDATE "claim_event" SET "claim_id" = "claim"."id" FROM "claim" WHERE "claim"."claim_key" = "claim_event"."claim_key";
--> statement-breakpoint
ALTER TABLE "claim_event" ENABLE TRIGGER "claim_event_rows";
--> statement-breakpoint
ALTER TABLE "claim_event" ALTER COLUMN "claim_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "claim_event" DROP CONSTRAINT "claim_event_claim_key_version_pk";
--> statement-breakpoint
ALTER TABLE "claim_event" ADD CONSTRAINT "claim_event_claim_id_version_pk" PRIMARY KEY("claim_id","version");
--> statement-breakpoint
ALTER TABLE "claim_event" DROP COLUMN "claim_key";
--> statement-breakpoint
ALTER TABLE "claim" ADD COLUMN "slot_id" text;
--> statement-breakpoint
UPDATE "claim" SET "slot_id" = newest."slot_id" FROM (
	SELECT DISTINCT ON (item."claim_key") item."claim_key", item."slot_id" FROM "slot_item" AS item JOIN "slot" ON "slot"."id" = item."slot_id"
	ORDER BY item."claim_key", item."open" DESC, "slot"."created_at" DESC, "slot"."nonce" DESC) AS newest
WHERE newest."claim_key" = "claim"."claim_key";
--> statement-breakpoint
DROP INDEX "slot_item_claim";
--> statement-breakpoint
DROP INDEX "chain_transfer_claimed";
--> statement-breakpoint
DROP INDEX "chain_transfer_authorization";
--> statement-breakpoint
CREATE UNIQUE INDEX "chain_transfer_authorization" ON "chain_transfer" USING btree ("authorization_key",(CASE WHEN "claimed_kind" IN ('x402','sweep','payout','refund','return') THEN true END)) WHERE "chain_transfer"."canonical";
--> statement-breakpoint
ALTER TABLE "chain_transfer" DROP COLUMN "claimed_by";
--> statement-breakpoint
ALTER TABLE "ledger_transfer" DISABLE TRIGGER "ledger_transfer_rows";
--> statement-breakpoint
UPDATE "ledger_transfer" AS resolution SET "entry_id" = set_byte(pending."entry_id", 15, get_byte(pending."entry_id", 15) # 1)
FROM "ledger_transfer" AS pending WHERE pending."id" = resolution."ref";
--> statement-breakpoint
ALTER TABLE "ledger_transfer" ENABLE TRIGGER "ledger_transfer_rows";
--> statement-breakpoint
DROP INDEX "ledger_transfer_ref";
--> statement-breakpoint
ALTER TABLE "ledger_transfer" ADD CONSTRAINT "ledger_transfer_resolution" CHECK ("ledger_transfer"."phase" NOT IN ('post','void') OR set_byte("ledger_transfer"."entry_id", 15, get_byte("ledger_transfer"."entry_id", 15) # 1) = substr(sha256(convert_to(E'farebox/entry/v1\n' || left("ledger_transfer"."event_key", -5), 'UTF8')), 1, 16));

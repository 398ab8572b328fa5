ALTER TABLE "outgoing" ADD COLUMN "signed_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "outgoing_signed" ON "outgoing" USING btree ("chain_id","token","signed_at") WHERE "outgoing"."signed_at" IS NOT NULL;--> statement-breakpoint
UPDATE "outgoing" SET "signed_at" = "claim"."created_at" FROM "claim" WHERE "claim"."claim_key" = "outgoing"."claim_key";

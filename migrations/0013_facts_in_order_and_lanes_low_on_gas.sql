-- Why: ids of facts are random within a millisecond, so facts are told by a sequence of their own; a fact that a hearer
-- cannot take waits, and is set aside in sight after too many failures. A lane remembers its coins and since when they
-- are too few.
-- Locks: ACCESS EXCLUSIVE on outbox while the identity column rewrites it: seconds per million facts. signer is small.
-- Backfill: the rewrite numbers old facts in the order of their rows.
DROP INDEX "outbox_undelivered";--> statement-breakpoint
ALTER TABLE "signer" ADD COLUMN "gas_wei" numeric(39, 0);--> statement-breakpoint
ALTER TABLE "signer" ADD COLUMN "low_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "sequence" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "outbox_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "last_error" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "retry_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "dead_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "outbox_retried" ON "outbox" USING btree ("subject","sequence") WHERE "outbox"."delivered_at" IS NULL AND "outbox"."dead_at" IS NULL AND "outbox"."retry_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "outbox_dead" ON "outbox" USING btree ("sequence") WHERE "outbox"."dead_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "outbox_undelivered" ON "outbox" USING btree ("sequence") WHERE "outbox"."delivered_at" IS NULL AND "outbox"."dead_at" IS NULL;
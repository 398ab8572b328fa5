-- Why: an operator who finds that a merchant cheats could end its keys, and its links and endpoints went on to be paid.
-- Locks: the table, against everything, while the check reads its few rows. Backfill: none; nobody is suspended.
ALTER TABLE "merchant" ADD COLUMN "suspended_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "suspension_reason" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_suspension" CHECK (("merchant"."suspended_at" IS NULL) = ("merchant"."suspension_reason" IS NULL));

-- Why: an invoice names its seller by tax id and postal address, as they were when it was issued.
-- Locks: each table for a moment; a column without a default rewrites nothing. Backfill: none; what was issued before names no more
-- than it did.
ALTER TABLE "invoice" ADD COLUMN "merchant_tax_id" text;--> statement-breakpoint
ALTER TABLE "invoice" ADD COLUMN "merchant_address" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "tax_id" text;--> statement-breakpoint
ALTER TABLE "merchant" ADD COLUMN "address" text;
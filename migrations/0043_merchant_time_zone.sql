-- Why: a receipt tells when it was paid in the merchant's own time, too.
-- Locks: the table for a moment; a constant default rewrites nothing. Backfill: none.
ALTER TABLE "merchant" ADD COLUMN "time_zone" text DEFAULT 'UTC' NOT NULL;

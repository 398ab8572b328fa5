-- Why: a merchant may take only some of the deployment's rails; an empty list means every one, as before.
-- Locks: the table for a moment; a constant default rewrites nothing. Backfill: none.
ALTER TABLE "merchant" ADD COLUMN "rails" jsonb DEFAULT '[]'::jsonb NOT NULL;
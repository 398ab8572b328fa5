-- Why: a secret that was replaced twice within its grace signed no more, though its time was not over.
-- Locks: the table, against everything, for a moment: the default is kept beside the rows. Backfill: none; what was replaced
-- last stays where it is.
ALTER TABLE "webhook_endpoint" ADD COLUMN "older_secrets" jsonb DEFAULT '[]'::jsonb NOT NULL;
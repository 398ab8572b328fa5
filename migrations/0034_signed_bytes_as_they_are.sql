-- Why: the signed bytes of a batch were compressed before they were stored, which took longer than to write them as they are: they
-- are signatures, nonces and addresses for the most part.
-- Locks: attempt, against everything, for a moment. Backfill: none; what is there stays compressed and is read as before.
ALTER TABLE "attempt" ALTER COLUMN "raw" SET STORAGE EXTERNAL;

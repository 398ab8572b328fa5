-- Why: the signed bytes of a batch were compressed before they were stored, which was 3% of the database's processor time in a
-- storm of settles. They are signatures, nonces and addresses for the most part.
-- Locks: attempt, against everything, for a moment. Backfill: none; what is there stays compressed and is read as before.
ALTER TABLE "attempt" ALTER COLUMN "raw" SET STORAGE EXTERNAL;

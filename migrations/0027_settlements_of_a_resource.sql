-- Why: the dashboard shows what was paid for a resource, newest first.
-- Locks: claim, against writes while the index is built. Backfill: none.
CREATE INDEX "claim_sold" ON "claim" USING btree ("payable_id","created_at") WHERE "claim"."credit_state" <> 'none';
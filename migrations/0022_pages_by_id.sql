-- Why: hosted pages find an intent by its id alone, which is their capability. Locks: payment_intent against writes while the
-- index is built. Backfill: none.
CREATE INDEX "payment_intent_id" ON "payment_intent" USING btree ("id");
-- Why: a page of a merchant's entries was found by reading the books of all merchants from end to end; it is the newest rows of a few
-- accounts. Keys begin with an account and its time, so a settle writes where the last one of the same account did.
-- Locks: ledger_transfer, against writes, while it is read twice. Backfill: none.
CREATE INDEX "ledger_transfer_debit" ON "ledger_transfer" USING btree ("debit_account","posted_at");--> statement-breakpoint
CREATE INDEX "ledger_transfer_credit" ON "ledger_transfer" USING btree ("credit_account","posted_at");
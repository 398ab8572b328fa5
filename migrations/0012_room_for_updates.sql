-- Why: a claim is updated five times and its slot, balances and log a few times each within seconds. Room on the page lets
-- PostgreSQL replace those rows in place, and statistics of young, fast-growing tables must not be a minute old.
-- Locks: SHARE UPDATE EXCLUSIVE, for a moment. Backfill: none; existing pages keep their filling.
ALTER TABLE claim SET (fillfactor = 60, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
ALTER TABLE ledger_balance SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
ALTER TABLE chain_transfer SET (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE slot_item SET (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE outbox SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
ALTER TABLE observer SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE signer SET (fillfactor = 50);

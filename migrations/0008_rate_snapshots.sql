-- Why: the rate that a payment was locked at is kept with the prices it was made of, for the audit: its rows (the table
-- is of 0006) only grow. Locks: rate_snapshot, which is empty, for the triggers. Backfill: none.
REVOKE UPDATE, DELETE, TRUNCATE ON "rate_snapshot" FROM farebox_app;--> statement-breakpoint
CREATE TRIGGER rate_snapshot_rows BEFORE UPDATE OR DELETE ON "rate_snapshot" FOR EACH ROW EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER rate_snapshot_truncate BEFORE TRUNCATE ON "rate_snapshot" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

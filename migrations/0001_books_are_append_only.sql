-- Why: the books and the timeline only grow. The role that serves requests and runs the loops may not change or remove
-- their rows; triggers refuse it to the owner as well, since a grant cannot. TRUNCATE needs a trigger of its own.
-- Locks: none beyond the catalogue. Backfill: none.
DO $$
BEGIN
  -- Roles belong to the cluster: another database of it may have made this one already.
  CREATE ROLE farebox_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
--> statement-breakpoint
GRANT farebox_app TO CURRENT_USER WITH INHERIT FALSE, SET TRUE;
--> statement-breakpoint
GRANT USAGE ON SCHEMA public TO farebox_app;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO farebox_app;
--> statement-breakpoint
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO farebox_app;
--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON ledger_transfer, claim_event FROM farebox_app;
--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON claim, ledger_account, ledger_balance, slot, slot_item, attempt, chain_transfer FROM farebox_app;
--> statement-breakpoint
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: correct it with a new row', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER ledger_transfer_rows BEFORE UPDATE OR DELETE ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER ledger_transfer_truncate BEFORE TRUNCATE ON ledger_transfer FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER claim_event_rows BEFORE UPDATE OR DELETE ON claim_event FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER claim_event_truncate BEFORE TRUNCATE ON claim_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER claim_rows BEFORE DELETE ON claim FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER claim_truncate BEFORE TRUNCATE ON claim FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

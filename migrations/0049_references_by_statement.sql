-- Why: a settle writes four transfers and an item of a slot, and each reference of each row was looked up by a statement of its own:
-- ten of them, a quarter of the time in which they were posted. Now a statement's rows are looked at together.
-- Locks: the five tables, against everything, for a moment. Backfill: none.
ALTER TABLE "ledger_transfer" DROP CONSTRAINT "ledger_transfer_debit_account_asset_ledger_account_id_asset_fk";
--> statement-breakpoint
ALTER TABLE "ledger_transfer" DROP CONSTRAINT "ledger_transfer_credit_account_asset_ledger_account_id_asset_fk";
--> statement-breakpoint
ALTER TABLE "ledger_account" DROP CONSTRAINT "ledger_account_id_asset";
--> statement-breakpoint
ALTER TABLE "slot_item" DROP CONSTRAINT "slot_item_slot_id_slot_id_fk";
--> statement-breakpoint
ALTER TABLE "slot_item" DROP CONSTRAINT "slot_item_claim_key_claim_claim_key_fk";
--> statement-breakpoint
-- Each query of a function sees what others have committed meanwhile, as a foreign key does. Its plan is kept, and made while a
-- table is small it would read all of it for each row: so it is by key always.
CREATE FUNCTION refuse_transfer_without_accounts() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  missing record;
BEGIN
  SELECT account, used.asset INTO missing
  FROM (SELECT debit_account AS account, asset FROM added UNION SELECT credit_account, asset FROM added) AS used
  WHERE (SELECT known.asset FROM ledger_account AS known WHERE known.id = used.account) IS DISTINCT FROM used.asset
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'there is no account % of %', encode(missing.account, 'hex'), missing.asset
      USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER ledger_transfer_accounts AFTER INSERT ON ledger_transfer REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_transfer_without_accounts();
--> statement-breakpoint
CREATE FUNCTION refuse_item_without_slot_or_claim() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  missing record;
BEGIN
  SELECT added.slot_id, added.claim_key INTO missing
  FROM added
  WHERE (SELECT slot.id FROM slot WHERE slot.id = added.slot_id) IS NULL
    OR (SELECT claim.claim_key FROM claim WHERE claim.claim_key = added.claim_key) IS NULL
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'there is no slot %, or no claim %', missing.slot_id, encode(missing.claim_key, 'hex')
      USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER slot_item_references AFTER INSERT ON slot_item REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_item_without_slot_or_claim();
--> statement-breakpoint
-- What is referred to stays: slots and claims are kept by grant and trigger already, and nothing of an account ever changes.
REVOKE UPDATE ON ledger_account FROM farebox_app;
--> statement-breakpoint
CREATE TRIGGER ledger_account_rows BEFORE UPDATE OR DELETE ON ledger_account FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER ledger_account_truncate BEFORE TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

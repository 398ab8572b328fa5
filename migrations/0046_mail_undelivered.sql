-- Why: the dashboard shows with each payment and invoice which of its mails did not arrive; most of a merchant's did.
-- Locks: mail, against writes, while it is read once. Backfill: none.
CREATE INDEX "mail_undelivered" ON "mail" USING btree ("merchant_id","created_at") WHERE "mail"."state" <> 'sent';
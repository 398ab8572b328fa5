-- Why: whether the books balance is asked once a minute, and the answer must not take longer the older they grow.
-- Locks: ledger_transfer, against writes, while it is read once. Backfill: every transfer that is ten minutes old is folded.
CREATE TABLE "ledger_checkpoint" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"folded_to" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ledger_checkpoint_only" CHECK ("ledger_checkpoint"."only")
);
--> statement-breakpoint
CREATE TABLE "ledger_fold" (
	"account_id" "bytea" PRIMARY KEY NOT NULL,
	"debits_posted" numeric(39, 0) NOT NULL,
	"credits_posted" numeric(39, 0) NOT NULL,
	"debits_pending" numeric(39, 0) NOT NULL,
	"credits_pending" numeric(39, 0) NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ledger_fold" ADD CONSTRAINT "ledger_fold_account_id_ledger_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."ledger_account"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "ledger_transfer_posted" ON "ledger_transfer" USING brin ("posted_at") WITH (autosummarize = true);
--> statement-breakpoint
INSERT INTO "ledger_checkpoint" ("folded_to") VALUES (now() - interval '10 minutes');
--> statement-breakpoint
INSERT INTO "ledger_fold"
SELECT account,
	sum(CASE WHEN phase IN ('single','post') THEN debit ELSE 0 END),
	sum(CASE WHEN phase IN ('single','post') THEN credit ELSE 0 END),
	sum(CASE phase WHEN 'pending' THEN debit WHEN 'single' THEN 0 ELSE -debit END),
	sum(CASE phase WHEN 'pending' THEN credit WHEN 'single' THEN 0 ELSE -credit END)
FROM (
	SELECT debit_account AS account, amount AS debit, 0 AS credit, phase, posted_at FROM "ledger_transfer"
	UNION ALL
	SELECT credit_account, 0, amount, phase, posted_at FROM "ledger_transfer") AS side
WHERE posted_at < (SELECT folded_to FROM "ledger_checkpoint")
GROUP BY account;

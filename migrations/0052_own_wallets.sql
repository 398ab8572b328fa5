-- Why: wallets of a merchant counted among those that pay it, and raised its place in the indexes.
-- Locks: payable_payer against writes while its index is built. Backfill: the addresses of all books of payout addresses; what
-- such wallets paid before fades from the counts within 90 days.
CREATE TABLE "own_wallet" (
	"merchant_id" text NOT NULL,
	"wallet" "bytea" NOT NULL,
	CONSTRAINT "own_wallet_merchant_id_wallet_pk" PRIMARY KEY("merchant_id","wallet")
);
--> statement-breakpoint
CREATE INDEX "payable_payer_payer" ON "payable_payer" USING btree ("payer");--> statement-breakpoint
INSERT INTO "own_wallet" ("merchant_id", "wallet") SELECT DISTINCT "merchant_id", "address" FROM "payout_address";

-- Why: gas that is spent for others is bounded per payer, payable, merchant and chain; all processes share what was burned
-- within the hour. Few rows change often, so their pages have room. Locks: none; the tables are new. Backfill: none, a payer
-- of before counts as new until it pays again.
CREATE TABLE "gas_burn" (
	"chain_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"wei" numeric(39, 0) NOT NULL,
	"wasted_wei" numeric(39, 0) NOT NULL,
	"items" integer NOT NULL,
	CONSTRAINT "gas_burn_chain_id_kind_subject_pk" PRIMARY KEY("chain_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "payer_gas" (
	"payer" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"wei" numeric(39, 0) NOT NULL,
	"wasted_wei" numeric(39, 0) NOT NULL,
	"failures" integer NOT NULL,
	"has_paid" boolean NOT NULL,
	"rest_until" timestamp (3) with time zone,
	CONSTRAINT "payer_gas_payer_chain_id_pk" PRIMARY KEY("payer","chain_id")
);--> statement-breakpoint
ALTER TABLE gas_burn SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE payer_gas SET (fillfactor = 70);--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "gas_burn", "payer_gas" FROM farebox_app;

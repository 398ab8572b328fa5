CREATE TABLE "reconciliation" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reconciliation_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" bigint NOT NULL,
	"asset" text NOT NULL,
	"block_number" bigint NOT NULL,
	"status" text NOT NULL,
	"ledger" numeric(39, 0) NOT NULL,
	"on_chain" numeric(39, 0),
	"unexplained" integer NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "reconciliation_latest" ON "reconciliation" USING btree ("chain_id","asset","id");
-- Why: people sign in to the dashboard with a key, and the session they get can be ended.
-- Locks: api_key, briefly, for the reference to it. Backfill: none.
CREATE TABLE "dashboard_session" (
	"merchant_id" text NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"key_id" text NOT NULL,
	"csrf_token" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "dashboard_session_merchant_id_token_hash_pk" PRIMARY KEY("merchant_id","token_hash"),
	CONSTRAINT "dashboard_session_token" UNIQUE("token_hash")
);
--> statement-breakpoint
ALTER TABLE "dashboard_session" ADD CONSTRAINT "dashboard_session_key_id_api_key_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("key_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dashboard_session_idle" ON "dashboard_session" USING btree ("last_used_at");
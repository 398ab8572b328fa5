-- Why: providers call back, and each event is kept before it is acknowledged; what they are asked to do has rows of its
-- own; a sandbox remembers how far its merchants' clock was moved.
-- Locks: merchant, for a moment, by the foreign key. Backfill: none, the tables are new.
CREATE TABLE "provider_event" (
	"provider" text NOT NULL,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"reference" text NOT NULL,
	"body" "bytea" NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"handled_at" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	CONSTRAINT "provider_event_provider_event_id_pk" PRIMARY KEY("provider","event_id")
);
--> statement-breakpoint
CREATE TABLE "provider_order" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"provider" text NOT NULL,
	"kind" text NOT NULL,
	"reference" text,
	"due_at" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "provider_order_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "provider_order_kind" CHECK ("provider_order"."kind" IN ('clearing', 'refund'))
);
--> statement-breakpoint
CREATE TABLE "sandbox_clock" (
	"id" integer PRIMARY KEY NOT NULL,
	"offset_seconds" bigint NOT NULL,
	CONSTRAINT "sandbox_clock_one_row" CHECK ("sandbox_clock"."id" = 1),
	CONSTRAINT "sandbox_clock_offset" CHECK ("sandbox_clock"."offset_seconds" BETWEEN 1 AND 946080000)
);
--> statement-breakpoint
ALTER TABLE "provider_order" ADD CONSTRAINT "provider_order_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "provider_event_unhandled" ON "provider_event" USING btree ("received_at") WHERE "provider_event"."handled_at" IS NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX "provider_order_reference" ON "provider_order" USING btree ("provider","reference");
--> statement-breakpoint
CREATE INDEX "provider_order_due" ON "provider_order" USING btree ("due_at") WHERE "provider_order"."due_at" IS NOT NULL;

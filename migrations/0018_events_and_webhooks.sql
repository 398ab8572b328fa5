-- Why: what merchants were told, where they listen, and what was sent there. An event is written from the fact that it
-- tells, by the fact's id; deliveries are the queue of what is to be sent, and the log of what was. The two indexes of
-- pending deliveries stay small. Rights: as for every table, by the default privileges of 0001; events and deliveries are
-- pruned, so neither is append-only.
-- Locks: merchant, for the foreign key, for a moment; the tables are new. Backfill: none, events begin with this version.
CREATE TABLE "event" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"type" text NOT NULL,
	"sequence" bigint NOT NULL,
	"subject" text NOT NULL,
	"data" json NOT NULL,
	"api_version" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_delivery" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"subject" text NOT NULL,
	"sequence" bigint NOT NULL,
	"state" text NOT NULL,
	"tries" integer NOT NULL,
	"attempts" jsonb NOT NULL,
	"response" text,
	"due_at" timestamp (3) with time zone,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_delivery_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "webhook_delivery_state" CHECK ("webhook_delivery"."state" IN ('pending','succeeded','failed')),
	CONSTRAINT "webhook_delivery_due_pending" CHECK (("webhook_delivery"."state" = 'pending') = ("webhook_delivery"."due_at" IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoint" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"description" text NOT NULL,
	"enabled" boolean NOT NULL,
	"disabled_reason" text,
	"disabled_at" timestamp (3) with time zone,
	"api_version" text NOT NULL,
	"secret" "bytea" NOT NULL,
	"previous_secret" "bytea",
	"previous_until" timestamp (3) with time zone,
	"failing_since" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"warned_days" integer DEFAULT 0 NOT NULL,
	"last_success_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"lease" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_endpoint_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "webhook_endpoint_disabled" CHECK ("webhook_endpoint"."enabled" = ("webhook_endpoint"."disabled_reason" IS NULL) AND "webhook_endpoint"."enabled" = ("webhook_endpoint"."disabled_at" IS NULL)),
	CONSTRAINT "webhook_endpoint_disabled_reason" CHECK ("webhook_endpoint"."disabled_reason" IN ('requested','gone','failing')),
	CONSTRAINT "webhook_endpoint_previous" CHECK (("webhook_endpoint"."previous_secret" IS NULL) = ("webhook_endpoint"."previous_until" IS NULL))
);
--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint" FOREIGN KEY ("merchant_id","endpoint_id") REFERENCES "public"."webhook_endpoint"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_sequence" ON "event" USING btree ("merchant_id","sequence");--> statement-breakpoint
CREATE INDEX "event_type" ON "event" USING btree ("merchant_id","type","sequence");--> statement-breakpoint
CREATE INDEX "event_created" ON "event" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_delivery_event" ON "webhook_delivery" USING btree ("merchant_id","endpoint_id","event_id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_log" ON "webhook_delivery" USING btree ("merchant_id","endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" USING btree ("merchant_id","endpoint_id","due_at","sequence") WHERE "webhook_delivery"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_delivery_subject" ON "webhook_delivery" USING btree ("merchant_id","endpoint_id","subject","sequence") WHERE "webhook_delivery"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_delivery_created" ON "webhook_delivery" USING btree ("created_at");
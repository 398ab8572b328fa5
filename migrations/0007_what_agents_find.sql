-- Why: listed endpoints are probed, dated and ranked; the discovery indexes are searched in narrow rows of their own.
-- Locks: none beyond the new tables. Backfill: a `listing` of what is listed now, found by the words of its address and
-- description and grouped by host until its merchant projects it again; a probe that is due at once for each of them;
-- what was paid so far, counted once from the claims.
CREATE TABLE "probed_domain" (
	"domain" text PRIMARY KEY NOT NULL,
	"spent_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "resource_probe" (
	"merchant_id" text NOT NULL,
	"resource_id" text NOT NULL,
	"next_at" timestamp (3) with time zone,
	"failures" smallint DEFAULT 0 NOT NULL,
	"at" timestamp (3) with time zone,
	"status" smallint,
	"ok" boolean DEFAULT false NOT NULL,
	"findings" jsonb NOT NULL,
	"first_seen" jsonb,
	CONSTRAINT "resource_probe_merchant_id_resource_id_pk" PRIMARY KEY("merchant_id","resource_id")
);
--> statement-breakpoint
CREATE TABLE "verified_host" (
	"merchant_id" text NOT NULL,
	"host" text NOT NULL,
	"verified" boolean NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "verified_host_merchant_id_host_pk" PRIMARY KEY("merchant_id","host")
);
--> statement-breakpoint
ALTER TABLE "resource_probe" ADD CONSTRAINT "resource_probe_merchant_id_resource_id_resource_merchant_id_id_fk" FOREIGN KEY ("merchant_id","resource_id") REFERENCES "public"."resource"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "resource_probe_due" ON "resource_probe" USING btree ("next_at") WHERE "resource_probe"."next_at" IS NOT NULL;--> statement-breakpoint
INSERT INTO "listing" ("id", "kind", "once", "merchant_id", "domain", "looks", "words", "price_amount", "price_asset", "rails", "extensions", "standing", "host_verified", "expires_at", "created_at")
SELECT "id", "kind", "once", "merchant_id", split_part("url", '/', 3), '{}',
  array_to_tsvector(ARRAY(SELECT DISTINCT 'a' || lexeme FROM unnest(tsvector_to_array(to_tsvector('english',
    regexp_replace(concat_ws(' ', "url", "title", "service_name", "description", "tags"::text), '[^[:alnum:]]+', ' ', 'g')))) AS lexeme)),
  "price_amount", "price_asset",
  ARRAY(SELECT concat(rail->>'chain', ' ', rail->>'asset') FROM jsonb_array_elements("rails") AS rail),
  ARRAY(SELECT jsonb_object_keys("extensions")),
  CASE WHEN "kind" = 'resource' THEN 0 ELSE 1000 END, false, "expires_at", "created_at"
FROM "payable" WHERE "listed" AND "closed_at" IS NULL
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "resource_probe" ("merchant_id", "resource_id", "next_at", "findings")
SELECT "merchant_id", "id", now(), '[]' FROM "resource" WHERE "listed" AND "archived_at" IS NULL
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "payable_payer" ("payable_id", "payer", "last_paid_at")
SELECT "claim"."payable_id", "claim"."payer", max("claim"."included_at") FROM "claim" JOIN "payable" ON "payable"."id" = "claim"."payable_id"
WHERE "claim"."kind" = 'x402' AND "claim"."credit_state" <> 'none' AND NOT "payable"."once" AND "claim"."included_at" > now() - interval '90 days'
GROUP BY 1, 2
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "payable_trust" ("payable_id", "settled_count", "distinct_payers")
SELECT "claim"."payable_id", count(*), (SELECT count(*) FROM "payable_payer" WHERE "payable_payer"."payable_id" = "claim"."payable_id")
FROM "claim" JOIN "payable" ON "payable"."id" = "claim"."payable_id"
WHERE "claim"."kind" = 'x402' AND "claim"."credit_state" <> 'none' AND NOT "payable"."once"
GROUP BY 1
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "counted_fact" ("id", "counted_at")
SELECT "id", now() FROM "outbox" WHERE "type" = 'payment.credited' AND "delivered_at" IS NULL
ON CONFLICT DO NOTHING;

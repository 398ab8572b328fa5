-- Why: what merchants sell and to whom: customers, products with a price in each currency, what a cart held that became
-- an intent, and payment links. Locks: merchant and payment_intent, for the foreign keys, for a moment; the tables are
-- new; an index is added to payment_intent, which blocks its writes while it is built. Backfill: none.
CREATE TABLE "cart" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"intent_id" text NOT NULL,
	"currency" text NOT NULL,
	"lines" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "cart_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
CREATE TABLE "product" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"sku" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"active" boolean NOT NULL,
	"metadata" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"version" integer NOT NULL,
	CONSTRAINT "product_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
CREATE TABLE "product_price" (
	"merchant_id" text NOT NULL,
	"product_id" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"place" integer NOT NULL,
	CONSTRAINT "product_price_merchant_id_product_id_asset_pk" PRIMARY KEY("merchant_id","product_id","asset"),
	CONSTRAINT "product_price_amount" CHECK ("product_price"."amount" >= 0)
);
--> statement-breakpoint
CREATE TABLE "customer" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"tax_id" text,
	"address" text,
	"metadata" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "customer_merchant_id_id_pk" PRIMARY KEY("merchant_id","id")
);
--> statement-breakpoint
CREATE TABLE "payment_link" (
	"merchant_id" text NOT NULL,
	"id" text NOT NULL,
	"kind" text NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(39, 0),
	"min_amount" numeric(39, 0),
	"max_amount" numeric(39, 0),
	"lines" jsonb NOT NULL,
	"merchant_name" text NOT NULL,
	"merchant_city" text NOT NULL,
	"merchant_country_code" text NOT NULL,
	"merchant_category_code" text,
	"title" text,
	"merchant_reference" text,
	"metadata" jsonb NOT NULL,
	"return_url" text,
	"listed" boolean NOT NULL,
	"max_payments" integer,
	"expires_at" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"version" integer NOT NULL,
	CONSTRAINT "payment_link_merchant_id_id_pk" PRIMARY KEY("merchant_id","id"),
	CONSTRAINT "payment_link_kind_known" CHECK ("payment_link"."kind" IN ('fixed','cart','open')),
	CONSTRAINT "payment_link_amount" CHECK (("payment_link"."kind" = 'open') = ("payment_link"."amount" IS NULL)),
	CONSTRAINT "payment_link_max_payments" CHECK ("payment_link"."max_payments" > 0)
);
--> statement-breakpoint
CREATE TABLE "payment_link_checkout" (
	"merchant_id" text NOT NULL,
	"intent_id" text NOT NULL,
	"link_id" text NOT NULL,
	"address" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_link_checkout_merchant_id_intent_id_pk" PRIMARY KEY("merchant_id","intent_id")
);
--> statement-breakpoint
ALTER TABLE "cart" ADD CONSTRAINT "cart_merchant_id_intent_id_payment_intent_merchant_id_id_fk" FOREIGN KEY ("merchant_id","intent_id") REFERENCES "public"."payment_intent"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product" ADD CONSTRAINT "product_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_price" ADD CONSTRAINT "product_price_merchant_id_product_id_product_merchant_id_id_fk" FOREIGN KEY ("merchant_id","product_id") REFERENCES "public"."product"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer" ADD CONSTRAINT "customer_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_link" ADD CONSTRAINT "payment_link_merchant_id_merchant_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."merchant"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_link_checkout" ADD CONSTRAINT "payment_link_checkout_link" FOREIGN KEY ("merchant_id","link_id") REFERENCES "public"."payment_link"("merchant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "cart_intent" ON "cart" USING btree ("merchant_id","intent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "product_sku" ON "product" USING btree ("merchant_id","sku");--> statement-breakpoint
CREATE UNIQUE INDEX "customer_email" ON "customer" USING btree ("merchant_id","email_key");--> statement-breakpoint
CREATE INDEX "payment_link_id" ON "payment_link" USING btree ("id");--> statement-breakpoint
CREATE INDEX "payment_link_lines" ON "payment_link" USING gin ("lines" jsonb_path_ops) WHERE kind = 'cart';--> statement-breakpoint
CREATE INDEX "payment_link_checkout_address" ON "payment_link_checkout" USING btree ("merchant_id","link_id","address","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "payment_intent_link" ON "payment_intent" USING btree ("merchant_id",(metadata->>'paymentLinkId'),"status") WHERE source = 'payment-link';--> statement-breakpoint
REVOKE DELETE, TRUNCATE ON "customer", "product", "cart", "payment_link", "payment_link_checkout" FROM farebox_app;--> statement-breakpoint
REVOKE TRUNCATE ON "product_price" FROM farebox_app;

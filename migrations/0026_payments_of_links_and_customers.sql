-- Why: the payments of a link, and those that name a customer by email, are listed newest first; each page is read off its
-- index. Locks: payment_intent against writes while they are built. Backfill: none.
CREATE INDEX "payment_intent_link_page" ON "payment_intent" USING btree ("merchant_id",(metadata->>'paymentLinkId'),"id") WHERE source = 'payment-link';--> statement-breakpoint
CREATE INDEX "payment_intent_customer" ON "payment_intent" USING btree ("merchant_id",lower(customer->>'email'),"id") WHERE customer ? 'email';
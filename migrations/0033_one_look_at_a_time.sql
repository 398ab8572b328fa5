-- Why: an order that was made due while somebody looked at it was looked at by two at a time, and the later one could tell the provider
-- again what the earlier one had told it: to settle what had failed meanwhile, without the merchant's retry.
-- Locks: provider_order, against everything, for a moment. Backfill: none; nobody looks while the migration runs.
ALTER TABLE "provider_order" ADD COLUMN "leased_until" timestamp (3) with time zone;

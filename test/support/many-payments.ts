/** So many payments of one merchant, written straight into the tables: for looking at lists. */
import type { TestDatabase } from "./db.ts";

/** Mostly agents' payments that are settled; every 1000th was made over the API and failed, with a reference,
 *  the one 500 before it is of a subscription's invoice, and every 5000th waits for a decision. Their order is that of
 *  their ids. */
export async function writeMany({ query }: TestDatabase, merchantId: string, count: number): Promise<void> {
  const id = (prefix: string) => `'${prefix}_01K2' || lpad(i::text, 22, '0')`;
  const rare = "i % 1000 = 0";
  const billed = "i % 1000 = 500";
  await query(
    `INSERT INTO payment_intent (merchant_id, id, status, amount, currency, provider, source, asked, payment_asset,
       payment_chain, payer_declared, execution_path, merchant_name, merchant_city, merchant_country_code, merchant_reference,
       metadata, fee_bps, clearing_id, clearing_state, failure_reason, created_at, updated_at, expires_at)
     SELECT $1, ${id("pi")}, CASE WHEN ${rare} THEN 'failed' ELSE 'completed' END, 10000, 'USDC', 'evm',
       CASE WHEN ${rare} THEN 'api' WHEN ${billed} THEN 'subscription' ELSE 'x402' END, '{"executionPath":"x402"}', CASE WHEN ${rare} THEN 'EURC' ELSE 'USDC' END,
       CASE WHEN ${rare} THEN 'ink' ELSE 'base' END, false, 'x402', 'Shop', 'Oslo', 'NO',
       CASE WHEN ${rare} THEN 'order ' || i END,
       CASE WHEN ${billed} THEN jsonb_build_object('subscriptionId', 'sub_' || i, 'invoiceId', 'inv_' || i) ELSE '{}' END,
       0, ${id("clr")}, CASE WHEN ${rare} THEN 'failed' ELSE 'settled' END, CASE WHEN ${rare} THEN 'provider_error' END,
       now(), now(), now()
     FROM generate_series(1, $2::int) AS i`,
    [merchantId, count],
  );
  await query(
    `INSERT INTO clearing (merchant_id, id, intent_id, state, provider, provider_reference, execution_path, chain, asset,
       source_amount, settlement_amount, fee, fee_bps, tolerance_bps, rate_from, rate_to, scaled_rate, rate_source,
       rate_locked_at, transaction_hash, failure_code, failure_reason, failure_at, expires_at, review_required, sequence,
       created_at, updated_at)
     SELECT $1, ${id("clr")}, ${id("pi")}, CASE WHEN ${rare} THEN 'failed' ELSE 'settled' END, 'evm', 'stl_' || i, 'x402',
       'base', 'USDC', 10000, 10000, 0, 0, 0, 'USDC', 'USDC', 1, 'identity', now(), sha256(i::text::bytea),
       CASE WHEN ${rare} THEN 'provider_error' END, CASE WHEN ${rare} THEN 'It failed.' END, CASE WHEN ${rare} THEN now() END,
       now(), i % 5000 = 0, 1, now(), now()
     FROM generate_series(1, $2::int) AS i`,
    [merchantId, count],
  );
  await query("ANALYZE payment_intent, clearing");
}

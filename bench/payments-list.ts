/** How long listing and reading payments takes with a million of them, next to ten thousand.
 *  `node --import tsx bench/payments-list.ts [--strict]`. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { type Database, openDatabase } from "#store";
import { startBenchChain } from "./chain.ts";
import { openBenchPostgres, silent } from "./ground.ts";
import { deployBenchContracts, newSecretKey, openWebHouse } from "./house.ts";
import { percentile } from "./load.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
const ROUNDS = 40;
/** Rows in one statement: the pool gives up on one that takes too long. */
const SLICE = 20_000;
const AIM = 1.5;
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** A payment's number as the 26 characters of an id. */
const padded = (i: number) => String(i).padStart(26, "0");

/** What merchants ask, of a deployment with `count` payments. */
const questions: Readonly<Record<string, (count: number) => string>> = {
  "newest first": () => "/v1/payments?limit=100",
  "of one state": () => "/v1/payments?state=settled&limit=100",
  "of a rare state": () => "/v1/payments?state=failed&limit=100",
  "of a status": () => "/v1/payments?status=completed&limit=100",
  "of a source": () => "/v1/payments?source=x402&limit=100",
  "of a rail": () => "/v1/payments?chain=local&asset=EURC&limit=100",
  "in review": () => "/v1/payments?reviewRequired=true&limit=100",
  "by reference": (count) => `/v1/payments?merchantReference=order-${Math.floor(count / 2)}`,
  "one by its intent": (count) => `/v1/payments/pi_${padded(Math.floor(count / 3))}`,
  "one by its clearing": (count) => `/v1/payments/clr_${padded(Math.floor(count / 3))}`,
  "intents, newest first": () => "/v1/payment-intents?limit=100",
};

interface Subject {
  readonly count: number;
  ask(path: string): Promise<number>;
  close(): Promise<void>;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { strict: { type: "boolean", default: false } } });
  const dir = await mkdtemp(join(tmpdir(), "farebox-payments-"));
  const stops: (() => Promise<void>)[] = [];
  try {
    const server = await openBenchPostgres();
    stops.push(server.stop);
    const chain = await startBenchChain(join(dir, "chain"), 1);
    stops.push(chain.stop);
    const contracts = await deployBenchContracts(chain);
    const subjects: Subject[] = [];
    for (const count of [SMALL, LARGE]) {
      const databaseUrl = await server.database(`payments_${count}`);
      const house = await openWebHouse({ databaseUrl, chain, contracts });
      stops.push(() => house.close());
      const { merchantId, secretKey } = await newSecretKey(house);
      const began = performance.now();
      await fill(databaseUrl, merchantId, count);
      say(`${count} payments in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
      subjects.push({
        count,
        close: () => house.close(),
        async ask(path) {
          const start = performance.now();
          const response = await house.app.request(path, {
            headers: { authorization: `Bearer ${secretKey}` },
          });
          const text = await response.text();
          if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
          return performance.now() - start;
        },
      });
    }
    const ratio = await compare(subjects);
    say(`\n${LARGE} payments: p95 is ${ratio.toFixed(2)} of that with ${SMALL}; aim at most ${AIM}`);
    if (values.strict && ratio > AIM) process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function fill(url: string, merchantId: string, count: number): Promise<void> {
  const db = openDatabase({ url, log: silent, name: "bench", maxConnections: 1 });
  for (let from = 1; from <= count; from += SLICE)
    await fillSlice(db, merchantId, { from, to: Math.min(count, from + SLICE - 1) });
  for (const table of ["payment_intent", "clearing"]) await db.pool.execute(sql.raw(`ANALYZE ${table}`));
  await db.close();
}

/** Payments as a busy merchant has them: most settled, one in fifty failed, one in a thousand in review. */
async function fillSlice(
  db: Database,
  merchantId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const number = sql`lpad(i::text, 26, '0')`;
  const state = sql`CASE WHEN i % 1000 = 7 THEN 'in-review' WHEN i % 50 = 3 THEN 'failed' ELSE 'settled' END`;
  const status = sql`CASE WHEN i % 1000 = 7 THEN 'clearing' WHEN i % 50 = 3 THEN 'failed' ELSE 'completed' END`;
  const failure = sql`CASE WHEN i % 50 = 3 AND i % 1000 <> 7 THEN 'order_expired' END`;
  const path = sql`CASE WHEN i % 3 = 0 THEN 'x402' WHEN i % 3 = 1 THEN 'deposit-match' ELSE 'on-chain-contract' END`;
  const asset = sql`CASE WHEN i % 5 = 0 THEN 'EURC' ELSE 'USDC' END`;
  const at = sql`timestamptz '2026-01-01' + i * interval '10 seconds'`;
  await db.pool.execute(sql`
    INSERT INTO payment_intent (merchant_id, id, status, amount, currency, provider, source, asked, settlement_asset, payment_asset,
      payment_chain, payer_declared, execution_path, merchant_name, merchant_city, merchant_country_code, merchant_reference, metadata, fee_bps,
      clearing_id, clearing_state, failure_reason, created_at, updated_at, expires_at, confirmed_at, completed_at)
    SELECT ${merchantId}, 'pi_' || ${number}, ${status}, 4999, 'USD', 'evm', CASE WHEN i % 3 = 0 THEN 'x402' ELSE 'api' END,
      jsonb_build_object('executionPath', ${path}), ${asset}, ${asset}, 'local', false, ${path}, 'Bench', 'Porto', 'PT',
      'order-' || i, '{}'::jsonb, 50, 'clr_' || ${number}, ${state}, ${failure}, ${at}, ${at}, ${at} + interval '1 hour', ${at}, ${at}
    FROM generate_series(${from}::int, ${to}::int) AS i`);
  await db.pool.execute(sql`
    INSERT INTO clearing (merchant_id, id, intent_id, state, provider, provider_reference, execution_path, chain, asset, source_amount,
      settlement_amount, fee, fee_bps, tolerance_bps, rate_from, rate_to, scaled_rate, rate_source, rate_locked_at, transaction_hash,
      failure_code, failure_reason, failure_at, expires_at, review_required, attempt, sequence, settled_at, is_final, created_at, updated_at)
    SELECT ${merchantId}, 'clr_' || ${number}, 'pi_' || ${number}, ${state}, 'evm', 'stl_' || ${number}, ${path}, 'local', ${asset}, 49990000,
      49990000, 249950, 50, 0, 'USD', ${asset}, 1000000000000000000, 'parity', ${at}, sha256(('tx' || i)::bytea),
      ${failure}, ${failure}, CASE WHEN ${failure} IS NOT NULL THEN ${at} END, ${at} + interval '1 hour', i % 1000 = 7, 1, 6, ${at}, true, ${at}, ${at}
    FROM generate_series(${from}::int, ${to}::int) AS i`);
}

async function compare(subjects: readonly Subject[]): Promise<number> {
  const all = subjects.map((): number[] => []);
  say(
    `\n${"question".padEnd(26)}${subjects.map(({ count }) => String(count).padStart(12)).join("")}   (p95, ms)`,
  );
  for (const [name, pathOf] of Object.entries(questions)) {
    const times = subjects.map((): number[] => []);
    for (let round = -3; round < ROUNDS; round += 1)
      for (const [i, subject] of subjects.entries()) {
        const took = await subject.ask(pathOf(subject.count));
        if (round >= 0) times[i]?.push(took);
      }
    for (const [i, each] of times.entries()) all[i]?.push(...each);
    say(`${name.padEnd(26)}${times.map((each) => p95(each).toFixed(1).padStart(12)).join("")}`);
  }
  const [small, large] = all.map(p95);
  return (large ?? Number.NaN) / (small ?? Number.NaN);
}

const p95 = (times: readonly number[]) =>
  percentile(
    times.toSorted((a, b) => a - b),
    0.95,
  );

await main();

/** Cycles issued in a second while many subscriptions are due at once, next to a floor that sends the same SQL on bare
 *  connections. `node --import tsx bench/subscriptions.ts [--due 100000] [--strict]`. */
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import pg from "pg";
import { createApi, createMerchant, fixedRates } from "#api";
import type { Facilitator } from "#facilitator";
import { projectPayable } from "#facilitator";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { type Database, openDatabase } from "#store";
import { openBenchPostgres, silent } from "./ground.ts";
import { recordStatements, type Statement, valuesOf } from "./statements.ts";

const MERCHANTS = 200;
const LANES = 4;
const AIM = 0.5;
/** Each is measured this long: to issue all that is due would take minutes and say the same. */
const WINDOW_MS = 15_000;
const masterSecret = "the master secret of benchmarks, long enough";
const newId = idMaker({ clock: systemClock, random: systemRandom });
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** The house's own loop, on a facilitator of which nothing but the projection is asked. */
function loopOf(db: Database) {
  const facilitator = { project: projectPayable, rails: () => [] } as unknown as Facilitator;
  const api = createApi({
    db,
    facilitator,
    clock: systemClock,
    newId,
    log: silent,
    rates: fixedRates({ clock: systemClock, log: silent }),
    ready: async () => ({ isReady: true, checks: {} }),
    config: {
      baseUrl: "https://bench.example",
      masterSecret,
      allowLocalTargets: false,
      rateLimits: "off",
      version: "0.0.0",
    },
  });
  const found = api.loops.find(({ name }) => name === "subscriptions");
  if (!found) throw new Error("the house has no loop of subscriptions");
  return found;
}

async function newMerchants(db: Database): Promise<readonly string[]> {
  const operator = { db, newId, clock: systemClock, random: systemRandom, masterSecret };
  const about = { name: "Bench", city: "Porto", countryCode: "PT", feeBps: 50 };
  const made = await Promise.all(Array.from({ length: MERCHANTS }, () => createMerchant(operator, about)));
  return made.map(({ id }) => id);
}

interface Due {
  readonly merchantId: string;
  readonly id: string;
}

/** Weekly subscriptions whose first cycle has just begun. */
async function makeDue(db: Database, merchants: readonly string[], count: number): Promise<readonly Due[]> {
  const due = Array.from({ length: count }, (_, i) => ({
    merchantId: merchants[i % merchants.length] ?? "",
    id: newId("sub"),
  }));
  for (let at = 0; at < due.length; at += 5_000) {
    const part = due.slice(at, at + 5_000);
    await db.pool.execute(sql`
      INSERT INTO subscription (merchant_id, id, state, customer_id, customer_name, customer_email, description, amount,
        currency, interval, interval_count, anchor_at, days_until_due, metadata, send_email, billed_cycles, next_index,
        next_billing_at, due_at, voids_open, version, created_at, updated_at)
      SELECT merchant_id, id, 'active', 'cus_bench', 'Ada', 'ada@buyer.example', 'Hosting', 1000, 'USD', 'week', 1,
        date_trunc('second', now() - interval '1 hour'), 7, '{}', true, 0, 0, date_trunc('second', now() - interval '1 hour'), date_trunc('second', now() - interval '1 hour'), false,
        1, now(), now()
      FROM unnest(${sql.param(part.map(({ merchantId }) => merchantId))}::text[],
        ${sql.param(part.map(({ id }) => id))}::text[]) AS due(merchant_id, id)`);
  }
  await db.pool.execute(sql`ANALYZE subscription`);
  return due;
}

const ULID = /\b(inv|evt)_[0-9A-Z]{26}/g;

/** The statements of one cycle, and of whom it was. */
async function record(db: Database, merchants: readonly string[]) {
  const [due] = await makeDue(db, merchants, 1);
  if (!due) throw new Error("nothing to record");
  const statements = await recordStatements(async () => void (await loopOf(db).turn()));
  // The lanes that found nothing asked once each.
  const last = statements.findIndex(({ text }) => text.includes("subscription_cycle"));
  const begin = statements.slice(0, last).findLastIndex(({ text }) => text === "BEGIN");
  const end = statements.findLastIndex(({ text }) => text === "COMMIT");
  const own = statements.slice(begin, end + 1).filter(({ text }, i) => i === 0 || text !== "BEGIN");
  const commits = own.filter(({ text }, i) => text !== "COMMIT" || i === own.length - 1);
  return { due, statements: commits };
}

interface Recorded {
  readonly due: Due;
  readonly statements: readonly Statement[];
}

/** The same statements for what is due, by clients that do nothing else. */
async function floor(url: string, recorded: Recorded): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const client = new pg.Client({ connectionString: url, options: "-c role=farebox_app" });
      client.on("error", () => {}); // told by its queries
      await client.connect();
      return client;
    }),
  );
  const began = performance.now();
  const done = await Promise.all(
    clients.map(async (client) => {
      let count = 0;
      while (performance.now() - began < WINDOW_MS && (await replay(client, recorded))) count += 1;
      return count;
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all(clients.map((client) => client.end()));
  return done.reduce((sum, count) => sum + count, 0) / seconds;
}

/** False when nothing was due. */
async function replay(client: pg.Client, { due, statements }: Recorded): Promise<boolean> {
  const ids = new Map<string, string>();
  const replace = (text: string) => {
    const named = [...ids].reduce((whole, [from, to]) => whole.replaceAll(from, to), text);
    return named.replace(ULID, (old, prefix: "inv" | "evt") => {
      const fresh = ids.get(old) ?? newId(prefix);
      ids.set(old, fresh);
      return fresh;
    });
  };
  let sequence = 0;
  for (const each of statements) {
    const { rows } = await client.query(each.text, [...numbered(valuesOf(each, replace), sequence)]);
    const [row] = rows;
    if (each.text.includes("skip locked")) {
      if (!row) {
        await client.query("ROLLBACK");
        return false;
      }
      ids.set(due.id, row.id).set(due.merchantId, row.merchant_id);
    }
    if (each.text.includes("merchant_counter")) sequence = Number(row?.value);
  }
  return true;
}

/** An invoice's own number in place of the recorded one, which stands behind its sequence. */
function numbered(values: readonly unknown[], sequence: number): readonly unknown[] {
  const at = values.findIndex((value) => typeof value === "string" && /^INV-\d{4}-\d{6}$/.test(value));
  if (at < 1 || typeof values[at - 1] !== "number") return values;
  return values.with(at - 1, sequence).with(at, `INV-${sequence}`);
}

async function ours(db: Database): Promise<number> {
  const loop = loopOf(db);
  const began = performance.now();
  let done = 0;
  for (let turn = 1; turn > 0 && performance.now() - began < WINDOW_MS; done += turn)
    turn = await loop.turn();
  if (done === 0) throw new Error("no cycle was issued");
  return done / ((performance.now() - began) / 1_000);
}

async function main(): Promise<void> {
  const options = {
    due: { type: "string", default: "100000" },
    strict: { type: "boolean", default: false },
  } as const;
  const { values } = parseArgs({ options });
  const count = Number(values.due);
  const server = await openBenchPostgres();
  try {
    const url = await server.database("subscriptions");
    const db = openDatabase({
      url,
      log: silent,
      name: "bench",
      maxConnections: LANES + 2,
      role: "farebox_app",
    });
    const merchants = await newMerchants(db);
    const recorded = await record(db, merchants);
    say(`one cycle sends ${recorded.statements.length} statements`);
    await makeDue(db, merchants, count);
    const least = await floor(url, recorded);
    const own = await ours(db);
    await db.close();
    say(`cycles per second: ${own.toFixed(0)} of ours, ${least.toFixed(0)} of the floor, with ${count} due`);
    const ratio = own / least;
    say(`\nsubscriptions: ${ratio.toFixed(2)} of the floor; aim at least ${AIM}`);
    if (values.strict && ratio < AIM) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

await main();

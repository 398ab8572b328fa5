/** Deliveries in a second, next to bare signed requests to the same receiver, as many at once and on the same way out;
 *  and what it costs to hear of payments. `node --import tsx bench/webhooks.ts [--strict]`. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { createSafeFetch } from "#api";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { type Database, openDatabase, outbox } from "#store";
import { createCourier } from "../api/webhook/courier.ts";
import { webhookHearer } from "../api/webhook/hear.ts";
import { createSeal } from "../api/webhook/seal.ts";
import { freePort } from "../src/dev/free-port.ts";
import { startChild } from "./child.ts";
import { openBenchPostgres, silent } from "./ground.ts";

const AT_ONCE = 8;
const EVENTS = 4_000;
const GROUP = 200;
const ROUNDS = 3;
const AIM = 0.5;
const say = (line: string) => void process.stdout.write(`${line}\n`);

const newId = idMaker({ clock: systemClock, random: systemRandom });
const seal = createSeal("the master secret of benchmarks", systemRandom);
const fetch = createSafeFetch({ allowLocal: true, userAgent: "bench" });
const now = () => systemClock.now();
/** As long as a payment's. */
const object = { paymentIntent: { id: "pi_x", text: "x".repeat(2_500) }, clearing: null, deposit: null };

/** What the hearer is told of here needs no other room. */
const family = {
  types: ["payment.completed"],
  object: undefined as never,
  present: async (_db: unknown, facts: readonly unknown[]) => facts.map(() => object),
};

async function makeEndpoints(db: Database, url: string, count: number): Promise<readonly string[]> {
  await db.pool.execute(sql`TRUNCATE outbox, event, webhook_delivery, webhook_endpoint`);
  await db.pool.execute(sql`INSERT INTO merchant (id, name, city, country_code, fee_bps, created_at, updated_at)
    VALUES ('mer_bench', 'Bench', 'Porto', 'PT', 0, now(), now()) ON CONFLICT DO NOTHING`);
  const ids = Array.from({ length: count }, () => newId("whe"));
  for (const [i, id] of ids.entries())
    await db.pool.execute(sql`INSERT INTO webhook_endpoint (merchant_id, id, url, events, description, enabled, api_version, secret, created_at, updated_at)
      VALUES ('mer_bench', ${id}, ${`${url}?${i}`}, '{*}', '', true, '2026-08-11',
        decode(${seal.close(seal.make(), id).slice(2)}, 'hex'), now(), now())`);
  return ids;
}

/** Facts heard in a second, written as events and queued. */
async function hearAll(db: Database, count: number): Promise<number> {
  const hear = webhookHearer({ families: [family], newId, now, apiVersion: "2026-08-11" });
  const facts = Array.from({ length: count }, (_, n) => ({
    ...{ id: newId("evt"), type: "payment.completed", subject: `clr_${n}`, merchantId: "mer_bench" },
    payload: { previous: null },
  }));
  await db.tx((tx) => outbox.append(tx, facts));
  const began = performance.now();
  while ((await outbox.deliver(db, GROUP, hear)) > 0);
  return count / ((performance.now() - began) / 1_000);
}

async function deliverAll(db: Database, count: number): Promise<number> {
  const needs = { db, fetch, clock: systemClock, now, newId, random: systemRandom, seal, log: silent };
  const courier = createCourier({ ...needs, revisions: [] });
  const began = performance.now();
  await courier.turn();
  await courier.idle();
  const perSecond = count / ((performance.now() - began) / 1_000);
  await courier.stop();
  const { rows } = await db.pool.execute(sql`SELECT 1 FROM webhook_delivery WHERE state <> 'succeeded'`);
  if (rows.length > 0) throw new Error(`${rows.length} were not delivered`);
  return perSecond;
}

async function floor(url: string, count: number, atOnce: number): Promise<number> {
  const webhook = new Webhook(seal.make());
  let left = count;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const [id, at] = [newId("evt"), now()];
      const body = JSON.stringify({ id, type: "payment.completed", data: { object, previous: null } });
      const headers = {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
        "webhook-signature": webhook.sign(id, at, body),
      };
      const answer = await fetch(url, { method: "POST", headers, body });
      if (!answer.ok || answer.status !== 200) throw new Error("the receiver did not take it");
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, client));
  return count / ((performance.now() - began) / 1_000);
}

async function measure(db: Database, url: string, endpoints: number): Promise<number> {
  const ratios: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    await makeEndpoints(db, url, endpoints);
    const heard = await hearAll(db, EVENTS / endpoints);
    const [least, own] = [await floor(url, EVENTS, AT_ONCE * endpoints), await deliverAll(db, EVENTS)];
    if (round < 0) continue;
    ratios.push(own / least);
    say(
      `${endpoints} endpoint(s): ${own.toFixed(0)} deliveries a second, floor ${least.toFixed(0)}; ${heard.toFixed(0)} facts heard a second`,
    );
  }
  return ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { strict: { type: "boolean", default: false } } });
  const dir = await mkdtemp(join(tmpdir(), "farebox-webhooks-"));
  const stops: (() => Promise<void>)[] = [];
  try {
    const server = await openBenchPostgres();
    stops.push(server.stop);
    const db = openDatabase({
      ...{ url: await server.database("webhooks"), log: silent, name: "bench", maxConnections: 8 },
    });
    stops.push(() => db.close());
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const receiver = await startChild({
      ...{ name: "receiver", args: ["bench/receiver.ts", String(port)], readyUrl: url, home: dir },
      logFile: join(dir, "receiver.log"),
    });
    stops.push(receiver.stop);
    const ratios = [await measure(db, url, 1), await measure(db, url, 8)];
    for (const [i, ratio] of ratios.entries())
      say(`deliveries to ${[1, 8][i]} endpoint(s): ${ratio.toFixed(2)} of the floor; aim at least ${AIM}`);
    if (values.strict && ratios.some((ratio) => ratio < AIM)) process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

await main();

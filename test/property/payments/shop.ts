/** A merchant, its API and everything behind it, over the made-up chain. */
import { createApi, createKey, createMerchant, fixedRates, type Rates, type Sandbox } from "#api";
import type { Clock } from "#kernel/clock";
import { systemRandom } from "#kernel/system";
import { outbox } from "#store";
import { type SimulatedWorld, simulateWorld } from "../../simulation/world.ts";
import { silentLog } from "../../support/dev-chain.ts";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
  readonly body: any;
}
export interface Shop {
  readonly world: SimulatedWorld;
  readonly merchantId: string;
  /** By the merchants' clock. */
  now(): Date;
  /** A request of the merchant. Writes carry a key of their own. */
  call(method: Method, path: string, body?: unknown): Promise<Answer>;
  /** A request of anybody. */
  ask(path: string, body: unknown): Promise<Answer>;
  /** What an agent sees and does at an address. */
  visit(path: string, init?: RequestInit): Promise<Response>;
  /** A second passes on the chain's side; facts are told; money is moved on until nothing is left to do. */
  turn(): Promise<void>;
  close(): Promise<void>;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

const masterSecret = "a master secret of simulations, long enough";

interface Terms {
  readonly feeBps: number;
  /** Of the world's clock, where merchants live by another. */
  merchantClock(clock: Clock): Clock;
  ratesOf(clock: Clock): Rates;
}

const usual: Terms = {
  feeBps: 50,
  merchantClock: (clock) => clock,
  ratesOf: (clock) => fixedRates({ clock, log: silentLog }),
};

export async function openShop(terms: Partial<Terms> = {}): Promise<Shop> {
  const { feeBps, merchantClock, ratesOf } = { ...usual, ...terms };
  const world = await simulateWorld();
  const { clock, engine, running, database } = world;
  const { newId, loopDb } = engine;
  const merchants = merchantClock(clock);
  const { app, loops, hearers } = createApi({
    db: database.db,
    loopDb,
    facilitator: running.facilitator,
    rates: ratesOf(clock),
    clock,
    sandbox: sandboxOf(merchants),
    newId,
    log: silentLog,
    ready: async () => ({ isReady: true, checks: {} }),
    config: {
      baseUrl: "http://farebox.test",
      masterSecret,
      allowLocalTargets: true,
      isSandbox: true,
      rateLimits: "off",
      version: "0.0.0",
    },
  });
  const operator = { db: database.db, clock, newId, random: systemRandom, masterSecret };
  const { id: merchantId } = await createMerchant(operator, {
    name: "Simulated",
    city: "Porto",
    countryCode: "PT",
    feeBps,
  });
  const { plaintext } = await createKey(operator, { merchantId, kind: "sk", name: "simulation" });
  let keys = 0;
  const newKey = () => {
    keys += 1;
    return `write-${keys}`;
  };

  async function request(path: string, init: RequestInit): Promise<Answer> {
    const response = await app.request(path, init);
    const text = await response.text();
    if (response.status >= 500) throw new Error(`${path}: ${response.status} ${text}`);
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  async function tellFacts(): Promise<number> {
    let told = 0;
    for (;;) {
      const delivered = await outbox.deliver(
        database.db,
        200,
        async (tx, facts) => {
          for (const hear of [running.hear, ...hearers]) await hear(tx, facts);
        },
        ({ error }) => {
          throw error;
        },
      );
      told += delivered;
      if (delivered === 0) return told;
    }
  }

  async function moveOn(): Promise<number> {
    let moved = 0;
    for (const { turn } of loops) for (let done = await turn(); done > 0; done = await turn()) moved += done;
    return moved;
  }

  /** Facts written while another transaction was open are told only after it. */
  async function untold(): Promise<number> {
    const rows = await database.query(
      "SELECT FROM outbox WHERE delivered_at IS NULL AND dead_at IS NULL LIMIT 1",
    );
    return rows.length;
  }

  return {
    world,
    merchantId,
    now: merchants.now,
    call: (method, path, body) =>
      request(path, {
        method,
        headers: {
          authorization: `Bearer ${plaintext}`,
          "content-type": "application/json",
          ...(method !== "GET" && { "idempotency-key": newKey() }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    ask: (path, body) =>
      request(path, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": newKey() },
        body: JSON.stringify(body),
      }),
    visit: async (path, init) => {
      const response = await app.request(path, init);
      if (response.status === 500) throw new Error(`${path}: ${await response.text()}`);
      return response;
    },
    async turn() {
      await world.turn();
      while ((await tellFacts()) + (await moveOn()) + (await untold()) > 0);
    },
    close: world.close,
  };
}

/** Only its clock is asked for. */
function sandboxOf(clock: Clock): Sandbox {
  const unasked = () => Promise.reject(new Error("nobody asks a made-up sandbox"));
  return {
    chain: { transfer: unasked, payOrder: unasked, reorg: unasked },
    clock: { clock, advance: unasked, everywhere: async () => {}, start() {}, stop: async () => {} },
    provider: null,
  };
}

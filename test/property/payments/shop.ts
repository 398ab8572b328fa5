/** A merchant, its API and everything behind it, over the made-up chain. */
import { createApi, createKey, createMerchant, fixedRates } from "#api";
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
  /** A request of the merchant. Writes carry a key of their own. */
  call(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer>;
  /** A request of anybody. */
  ask(path: string, body: unknown): Promise<Answer>;
  /** A second passes on the chain's side; facts are told; money is moved on until nothing is left to do. */
  turn(): Promise<void>;
  close(): Promise<void>;
}

const masterSecret = "a master secret of simulations, long enough";

export async function openShop(): Promise<Shop> {
  const world = await simulateWorld();
  const { clock, engine, running, database } = world;
  const { newId, loopDb } = engine;
  const { app, loops, hearers } = createApi({
    db: database.db,
    loopDb,
    facilitator: running.facilitator,
    rates: fixedRates({ clock, log: silentLog }),
    clock,
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
    feeBps: 50,
  });
  const { plaintext } = await createKey(operator, { merchantId, kind: "sk", name: "simulation" });
  let writes = 0;

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

  return {
    world,
    merchantId,
    call(method, path, body) {
      writes += 1;
      return request(path, {
        method,
        headers: {
          authorization: `Bearer ${plaintext}`,
          "content-type": "application/json",
          ...(method === "POST" && { "idempotency-key": `write-${writes}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    ask: (path, body) =>
      request(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    async turn() {
      await world.turn();
      while ((await tellFacts()) + (await moveOn()) > 0);
    },
    close: world.close,
  };
}

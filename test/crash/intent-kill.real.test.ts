/** The process dies while it makes an intent; the same request to the next one gets the one answer. */
import pg from "pg";
import { describe, expect, it } from "vitest";
import { sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { type ServiceProcess, startProcess } from "../support/processes.ts";

const world = sharedWorld({ role: "web" });
const merchant = sharedMerchant(world);

const body = JSON.stringify({ amount: { amount: "49.99", asset: "USD" }, merchantReference: "order 1042" });
async function ask({ baseUrl }: ServiceProcess, key: string) {
  const response = await fetch(`${baseUrl}/v1/payment-intents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${merchant.secretKey}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body,
  });
  const { headers, status } = response;
  return {
    status,
    replayed: headers.get("idempotent-replayed"),
    body: (await response.json()) as { readonly id: string },
  };
}
const made = async () =>
  (await world.database.query<{ id: string }>("SELECT id FROM payment_intent ORDER BY id")).map(
    ({ id }) => id,
  );
const recorded = async () =>
  (await world.database.query("SELECT key FROM idempotency_key WHERE key LIKE 'killed%'")).length;

/** Keeps every write of the outbox waiting: the last statement of a request but its own record. */
async function holdUp(): Promise<{
  readonly waiting: () => Promise<boolean>;
  readonly end: () => Promise<void>;
}> {
  const client = new pg.Client({ connectionString: world.database.url });
  await client.connect();
  await client.query("BEGIN; LOCK TABLE outbox IN EXCLUSIVE MODE");
  return {
    waiting: async () =>
      (
        await world.database.query(
          `SELECT 1 FROM pg_locks JOIN pg_database AS place ON place.oid = database AND datname = current_database()
             WHERE NOT granted AND relation = 'outbox'::regclass`,
        )
      ).length > 0,
    end: () => client.end(),
  };
}

describe("a process killed while it makes an intent", () => {
  it("before its transaction ends: nothing was made, and the same request to the next makes it", async () => {
    const service = await startProcess(world.dev, world.database);
    const before = await made();
    const hold = await holdUp();
    // given a request that has written its key and its intent, and has not committed
    const lost = ask(service, "killed before").catch(() => null);
    await until(hold.waiting, "the request writes");
    // when its process dies
    await service.stop();
    await hold.end();
    expect(await lost).toBeNull();
    // then nothing of it is there
    expect(await made()).toEqual(before);
    expect(await recorded()).toBe(0);
    // and the same request to the next process makes the intent, once
    const next = await startProcess(world.dev, world.database);
    const answer = await ask(next, "killed before");
    expect([answer.status, answer.replayed]).toEqual([201, null]);
    const again = await ask(next, "killed before");
    expect(again).toEqual({ ...answer, replayed: "true" });
    expect(await made()).toEqual([...before, answer.body.id]);
    await next.stop();
  });

  it("after it, with the answer on its way or not: the same request gets that answer", async () => {
    const service = await startProcess(world.dev, world.database);
    const before = await made();
    // given requests of which some are answered, when the process dies
    const keys = Array.from({ length: 20 }, (_, i) => `killed after ${i}`);
    const first = Promise.all(keys.map((key) => ask(service, key).catch(() => null)));
    await until(async () => (await made()).length >= before.length + 3, "some are made");
    await service.stop();
    const answered = await first;
    // then the next process gives each of them its one answer
    const next = await startProcess(world.dev, world.database);
    const again = await Promise.all(keys.map((key) => ask(next, key)));
    for (const [i, answer] of again.entries()) {
      expect(answer.status).toBe(201);
      const told = answered[i];
      if (told) expect(answer).toEqual({ ...told, replayed: "true" });
    }
    const ids = again.map(({ body: { id } }) => id);
    expect((await made()).sort()).toEqual([...before, ...ids].sort());
    expect(new Set(ids).size).toBe(keys.length);
    await next.stop();
  });
});

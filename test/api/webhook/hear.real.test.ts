/** What hearing costs, and what lists tell. */
import pg from "pg";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { outbox } from "#store";
import { webhookJobs } from "../../../api/webhook/jobs.ts";
import { sharedDatabase } from "../../support/db.ts";
import { factId, newListener, type Office, openOffice } from "./office.ts";

const DAY = 86_400_000;
const database = sharedDatabase();
let office: Office;
beforeEach(async () => {
  await database.query("TRUNCATE outbox, event, webhook_delivery, webhook_endpoint CASCADE");
  office = openOffice(database);
});

type Listener = Awaited<ReturnType<typeof newListener>>;
const listener = () => newListener(database, office);

/** So many facts, each about an intent of its own. */
async function factsOf({ merchantId, intent }: Listener, count: number): Promise<outbox.Fact[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await intent());
  await database.query("DELETE FROM outbox");
  return ids.map((id) => ({
    id: factId(office.time),
    type: "payment.clearing",
    subject: id,
    merchantId,
    payload: { paymentIntentId: id, clearingId: null, previous: { status: "created", state: null } },
  }));
}

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, "query");
  await work();
  const count = spy.mock.calls.length;
  spy.mockRestore();
  return count;
}

describe("hearing", () => {
  it("takes as many statements for 200 facts as for one", async () => {
    const [one, many] = [await listener(), await listener()];
    for (const shop of [one, many]) await shop.listen("http://127.0.0.1:9/");
    const counts: number[] = [];
    for (const facts of [await factsOf(one, 1), await factsOf(many, 200)]) {
      await database.db.tx((tx) => outbox.append(tx, facts));
      counts.push(await statementsOf(() => office.tell()));
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[0]).toBeLessThan(20);
    expect(await database.query("SELECT 1 FROM event")).toHaveLength(201);
    expect(await database.query("SELECT 1 FROM webhook_delivery")).toHaveLength(201);
  });

  it("writes events where nobody listens, and no deliveries", async () => {
    const shop = await listener();
    const intentId = await shop.intent();
    await office.tell();
    expect(await shop.must("GET", "/v1/events")).toMatchObject([
      { type: "payment.created", data: { object: { paymentIntent: { id: intentId } }, previous: null } },
    ]);
    expect(await database.query("SELECT 1 FROM webhook_delivery")).toEqual([]);
  });

  it("keeps what was before from the fact, and leaves out what is gone and what no family tells", async () => {
    const shop = await listener();
    const [fact] = await factsOf(shop, 1);
    if (!fact) return;
    const gone = { ...fact, id: factId(), payload: { paymentIntentId: "pi_gone", previous: null } };
    const inner = { ...fact, id: factId(), type: "deposit.changed" };
    await database.db.tx((tx) => outbox.append(tx, [fact, gone, inner]));
    await office.tell();
    expect(await shop.must("GET", "/v1/events")).toMatchObject([
      { id: fact.id, data: { previous: { status: "created", state: null } } },
    ]);
    expect(await database.query("SELECT 1 FROM outbox WHERE delivered_at IS NULL")).toEqual([]);
  });
});

describe("GET /v1/events", () => {
  /** Five things that happened, an hour apart. */
  async function history(shop: Listener) {
    const id = await shop.intent();
    await office.tell();
    await database.query("TRUNCATE event, outbox");
    const types = [
      "payment.created",
      "payment.clearing",
      "payment.funds_detected",
      "payment.failed",
      "payment.reopened",
    ];
    for (const type of types) {
      await shop.happens(id, type);
      office.time.forward(3_600_000);
    }
    await office.tell();
    return types;
  }
  const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

  it("lists newest first, or oldest first, by type, family and time", async () => {
    const shop = await listener();
    const types = await history(shop);
    const list = async (query: string) => typesOf(await shop.must("GET", `/v1/events${query}`));
    expect(await list("")).toEqual(types.toReversed());
    expect(await list("?order=asc")).toEqual(types);
    expect(await list("?types=payment.failed,payment.created&order=asc")).toEqual([types[0], types[3]]);
    expect(await list("?types=payment.*")).toHaveLength(5);
    expect(await list("?types=refund.*")).toEqual([]);
    const events = await shop.must("GET", "/v1/events?order=asc");
    const from = encodeURIComponent(events[1].timestamp);
    const to = encodeURIComponent(events[3].timestamp);
    expect(await list(`?createdFrom=${from}&order=asc`)).toEqual(types.slice(1));
    expect(await list(`?createdFrom=${from}&createdTo=${to}&order=asc`)).toEqual(types.slice(1, 3));
  });

  it("pages both ways, with and without types, and nothing is shown twice or left out", async () => {
    const shop = await listener();
    const types = await history(shop);
    for (const query of ["order=asc", "order=desc", "order=asc&types=payment.*", "types=*"]) {
      const seen: string[] = [];
      let path: string | null = `/v1/events?limit=2&${query}`;
      while (path !== null) {
        const answer = await shop.call("GET", path);
        seen.push(...typesOf(answer.body));
        const next = /<([^>]+)>/.exec(answer.headers.get("link") ?? "")?.[1];
        path = next === undefined ? null : next.replace("https://pay.example", "");
      }
      expect([query, seen]).toEqual([query, query.includes("asc") ? types : types.toReversed()]);
    }
  });

  it("goes on behind an event that was forgotten meanwhile, which was the oldest", async () => {
    const shop = await listener();
    const types = await history(shop);
    const { headers } = await shop.call("GET", "/v1/events?limit=1&order=asc");
    const next = /<https:\/\/pay\.example([^>]+)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
    await database.query("DELETE FROM event WHERE sequence = (SELECT min(sequence) FROM event)");
    const rest = await shop.must("GET", next.replace("limit=1", "limit=100"));
    expect(typesOf(rest)).toEqual(types.slice(1));
  });

  it("shows a merchant its own, and the newest of them, whatever another one was told since", async () => {
    const [shop, other] = [await listener(), await listener()];
    await history(shop);
    expect(await other.must("GET", "/v1/events")).toEqual([]);
    const [{ id }] = await shop.must("GET", "/v1/events");
    expect((await other.call("GET", `/v1/events/${id}`)).status).toBe(404);
    const mine = await shop.intent();
    await shop.happens(mine, "payment.failed", "payment.failed", "payment.reopened", "payment.failed");
    const theirs = await other.intent();
    await other.happens(theirs, "payment.reopened", "payment.failed", "payment.failed");
    await office.tell();
    const list = async (query: string) =>
      typesOf(await shop.must("GET", `/v1/events?${query}`)).map((type) => type.replace("payment.", ""));
    expect(await list("limit=2")).toEqual(["failed", "reopened"]);
    expect(await list("limit=3&types=payment.failed,payment.reopened")).toEqual([
      "failed",
      "reopened",
      "failed",
    ]);
    expect((await shop.must("GET", "/v1/events?limit=2&types=payment.failed"))[0].sequence).toBe(
      (await shop.must("GET", "/v1/events?limit=1"))[0].sequence,
    );
  });
});

describe("what is old", () => {
  it("is forgotten: deliveries after 30 days, events after 90, and nothing before", async () => {
    const shop = await listener();
    const { id } = await shop.listen("http://127.0.0.1:9/");
    await shop.intent();
    await office.tell();
    const now = () => office.time.now();
    const [job] = webhookJobs({ db: database.db, now });
    const prune = () => job?.run({ fact: null, stopping: new AbortController().signal });
    const counts = async () => [
      (await shop.must("GET", "/v1/events")).length,
      (await shop.deliveries(id)).length,
    ];
    for (const [days, expected] of [
      [29, [1, 1]],
      [2, [1, 0]],
      [58, [1, 0]],
      [2, [0, 0]],
    ] as const) {
      office.time.forward(days * DAY);
      await prune();
      expect(await counts()).toEqual(expected);
    }
  });

  it("is kept while it is sent again: a delivery that was called for on its last day has all its attempts", async () => {
    const shop = await listener();
    const { id } = await shop.listen("http://127.0.0.1:9/");
    await shop.intent();
    await office.tell();
    const [job] = webhookJobs({ db: database.db, now: () => office.time.now() });
    const states = async () => {
      await job?.run({ fact: null, stopping: new AbortController().signal });
      return (await shop.deliveries(id)).map(({ state }: { state: string }) => state);
    };
    office.time.forward(30 * DAY - 1_000);
    const [{ id: delivery }] = await shop.deliveries(id);
    await shop.must("POST", `/v1/webhook-deliveries/${delivery}/redeliver`);
    office.time.forward(3 * DAY);
    expect(await states()).toEqual(["pending"]);
    office.time.forward(28 * DAY);
    expect(await states()).toEqual([]);
  });
});

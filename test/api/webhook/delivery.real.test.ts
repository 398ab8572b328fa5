import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { outageOf } from "#store";
import { takeEndpoints } from "../../../api/webhook/due.ts";
import type { DeliveryRow } from "../../../api/webhook/present.ts";
import { record } from "../../../api/webhook/record.ts";
import type { Outcome } from "../../../api/webhook/send.ts";
import { webhookDelivery } from "../../../api/webhook/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { eventOf, type Receiver, receiveWebhooks, verified } from "../../support/webhook-receiver.ts";
import { newId } from "../world.ts";
import { newListener, type Office, openOffice } from "./office.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

const database = sharedDatabase();
let office: Office;
let receiver: Receiver;
beforeEach(async () => {
  await database.query("TRUNCATE outbox, event, webhook_delivery, webhook_endpoint CASCADE");
  office = openOffice(database);
  receiver = await receiveWebhooks();
});
afterEach(async () => {
  await office.courier.stop();
  await receiver.stop();
});

const listener = () => newListener(database, office);
const typesGot = () => receiver.got.map((each) => eventOf(each).type);
const outboxOf = (type: string) =>
  database.query<{ payload: Record<string, unknown> }>("SELECT payload FROM outbox WHERE type = $1", [type]);

describe("an event", () => {
  it("reaches an endpoint signed, so that the stock verifier takes it, and is written down", async () => {
    const shop = await listener();
    const { id, secret } = await shop.listen(receiver.url, ["payment.*"]);
    const intentId = await shop.intent();
    await office.tellAndSend();
    expect(receiver.got).toHaveLength(1);
    const [got] = receiver.got;
    if (!got) return;
    const event = verified(got, secret) as Record<string, unknown>;
    expect(event).toEqual({
      id: got.headers["webhook-id"],
      type: "payment.created",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      apiVersion: "2026-08-11",
      sequence: expect.any(Number),
      data: {
        object: {
          paymentIntent: expect.objectContaining({ id: intentId, status: "created" }),
          clearing: null,
          deposit: null,
        },
        previous: null,
      },
    });
    // and what was sent is what the list of events shows, and what reading the intent answers
    expect(await shop.must("GET", `/v1/events/${event.id}`)).toEqual(event);
    const read = await shop.must("GET", `/v1/payment-intents/${intentId}`);
    expect(event).toMatchObject({ data: { object: { paymentIntent: read } } });
    const [delivery] = await shop.deliveries(id);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^whd_/),
      ...{ webhookEndpointId: id, eventId: event.id, type: event.type, sequence: event.sequence },
      state: "succeeded",
      attempts: [{ at: expect.any(String), status: 200, problem: null, durationMs: expect.any(Number) }],
      ...{ response: "taken", nextAttemptAt: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect((await shop.endpoint(id)).lastSuccessAt).not.toBeNull();
  });

  it("is refused by the stock verifier with another secret, or with one byte changed", async () => {
    const shop = await listener();
    const { secret } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    const [got] = receiver.got;
    if (!got) throw new Error("nothing came");
    const other = (await shop.listen("http://127.0.0.1:9/other")).secret;
    expect(() => verified(got, other)).toThrow();
    expect(() => verified({ ...got, body: got.body.replace("created", "Created") }, secret)).toThrow();
    expect(() => verified(got, secret)).not.toThrow();
  });

  it("goes to endpoints that listen to its type, and to no other merchant's", async () => {
    const [shop, other] = [await listener(), await listener()];
    await shop.listen(`${receiver.url}?all`);
    await shop.listen(`${receiver.url}?refunds`, ["refund.*"]);
    await shop.listen(`${receiver.url}?off`, ["*"], { enabled: false });
    await shop.listen(`${receiver.url}?exact`, ["payment.created", "payment.completed"]);
    await other.listen(`${receiver.url}?other`);
    await shop.intent();
    await office.tellAndSend();
    const rows = await database.query<{ url: string; state: string }>(
      "SELECT url, state FROM webhook_delivery JOIN webhook_endpoint ON webhook_endpoint.id = endpoint_id ORDER BY url",
    );
    expect(rows.map(({ url, state }) => `${url.split("?")[1]} ${state}`)).toEqual([
      "all succeeded",
      "exact succeeded",
    ]);
    expect(receiver.got).toHaveLength(2);
  });

  it("is written and sent once, however often its fact is told", async () => {
    const shop = await listener();
    await shop.listen(receiver.url);
    await shop.intent();
    await office.tell();
    await database.query("UPDATE outbox SET delivered_at = NULL");
    await office.tellAndSend();
    expect(receiver.got).toHaveLength(1);
    expect(await database.query("SELECT 1 FROM event")).toHaveLength(1);
  });
});

describe("an endpoint that fails", () => {
  it("is asked again after 5 s, 5 min, … 24 h, and given up after ten attempts, with one id", async () => {
    receiver.answerWith(500);
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    const pauses = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((h) => h * HOUR)];
    for (const [i, pause] of pauses.entries()) {
      expect(receiver.got).toHaveLength(i + 1);
      const [delivery] = await shop.deliveries(id);
      const wait = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.updatedAt);
      expect(wait).toBeGreaterThanOrEqual(pause);
      expect(wait).toBeLessThanOrEqual(pause * 1.2 + 1);
      // not before its time
      office.time.forward(pause * 0.9);
      await office.send();
      expect(receiver.got).toHaveLength(i + 1);
      office.time.forward(pause * 0.31);
      await office.send();
    }
    expect(receiver.got).toHaveLength(10);
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect((await shop.deliveries(id))[0]).toMatchObject({ state: "failed", nextAttemptAt: null });
  });

  it("that comes back after two days gets what it missed", async () => {
    const shop = await listener();
    const { id, secret } = await shop.listen(receiver.url);
    receiver.answerWith(500);
    await shop.intent();
    await office.tellAndSend();
    for (let hours = 0; hours < 48; hours += 1) {
      office.time.forward(HOUR);
      await office.send();
    }
    const before = receiver.got.length;
    receiver.answerWith(200);
    office.time.forward(30 * HOUR);
    await office.send();
    expect(receiver.got).toHaveLength(before + 1);
    const last = receiver.got.at(-1);
    // signed anew, by the machine's clock: the merchants' is days ahead, and the verifier's is not
    expect(last && verified(last, secret)).toMatchObject({ type: "payment.created" });
    expect(await shop.deliveries(id)).toMatchObject([{ state: "succeeded" }]);
    expect(await shop.endpoint(id)).toMatchObject({ failingSince: null, enabled: true });
  });

  it("with a redirect is not followed", async () => {
    const trap = await receiveWebhooks();
    receiver.answerWith((response) => void response.writeHead(302, { location: trap.url }).end());
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    expect(await shop.deliveries(id)).toMatchObject([{ state: "pending", attempts: [{ status: 302 }] }]);
    expect(trap.got).toEqual([]);
    await trap.stop();
  });

  it("by silence is given 15 seconds, and holds no other endpoint up", async () => {
    receiver.answerWith(() => {});
    const quick = await receiveWebhooks();
    const [silent, shop] = [await listener(), await listener()];
    const { id } = await silent.listen(receiver.url);
    await shop.listen(quick.url);
    await silent.intent();
    await shop.intent();
    await office.tell();
    const start = performance.now();
    await office.courier.turn();
    await until(async () => quick.got.length === 1, "the other endpoint is served");
    expect(performance.now() - start).toBeLessThan(5_000);
    await office.courier.idle();
    expect(performance.now() - start).toBeGreaterThan(14_500);
    expect(await silent.deliveries(id)).toMatchObject([
      { state: "pending", attempts: [{ status: null, problem: "timeout" }], response: null },
    ]);
    await quick.stop();
  });

  it("while one request hangs, others of the same endpoint go on", async () => {
    const shop = await listener();
    await shop.listen(receiver.url);
    const [slow, quick] = [await shop.intent(), await shop.intent()];
    receiver.answerWith((response, got) => {
      if (!got.body.includes(slow)) response.writeHead(200).end();
    });
    await office.tell();
    await office.courier.turn();
    await until(async () => receiver.got.length === 2, "both were sent");
    await shop.happens(quick, "payment.clearing");
    await office.tell();
    await until(async () => receiver.got.length === 3, "a later one is sent", 5_000);
    expect(typesGot().at(-1)).toBe("payment.clearing");
  });

  it("with 410 is disabled at once, and the merchant is told in a fact", async () => {
    receiver.answerWith(410);
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    expect(await shop.endpoint(id)).toMatchObject({ enabled: false, disabledReason: "gone" });
    expect(await shop.deliveries(id)).toMatchObject([{ state: "failed" }]);
    expect(await outboxOf("webhook_endpoint.disabled")).toMatchObject([{ payload: { reason: "gone" } }]);
    await office.tellAndSend();
    expect(await database.query("SELECT type FROM event WHERE type LIKE 'webhook%'")).toEqual([]);
  });

  it("with 429 or 503 is not asked before it said, within an hour", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    const waits: number[] = [];
    for (const [status, after] of [
      [429, "120"],
      [503, "86400"],
      [500, "120"],
    ] as const) {
      receiver.answerWith((response) => void response.writeHead(status, { "retry-after": after }).end());
      await shop.intent();
      await office.tellAndSend();
      const [delivery] = await shop.deliveries(id);
      waits.push(Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.updatedAt));
    }
    expect(waits[0]).toBe(2 * MINUTE);
    expect(waits[1]).toBe(HOUR);
    expect(waits[2]).toBeLessThanOrEqual(6 * SECOND);
  });

  it("for days is told of at day 1 and day 3, and disabled after five days and twenty failures; enabled again it gets what waits", async () => {
    receiver.answerWith(500);
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    const days = async () => (await outboxOf("webhook_endpoint.failing")).map(({ payload }) => payload.days);
    for (let n = 0; n < 3; n += 1) await shop.intent();
    await office.tellAndSend();
    // Whatever chance adds to the pauses, one of the attempts falls into the second day.
    for (let hours = 0; hours < 42; hours += 1) {
      office.time.forward(HOUR);
      await office.send();
    }
    expect(await days()).toEqual([1]);
    office.time.forward(2 * DAY);
    await office.send();
    expect(await days()).toEqual([1, 3]);
    expect(await shop.endpoint(id)).toMatchObject({ enabled: true });
    const waiting = await shop.intent();
    await office.tell();
    office.time.forward(2 * DAY);
    await office.send();
    expect(await shop.endpoint(id)).toMatchObject({ enabled: false, disabledReason: "failing" });
    expect(await outboxOf("webhook_endpoint.disabled")).toMatchObject([{ payload: { reason: "failing" } }]);
    // nothing is sent, whatever is due
    const before = receiver.got.length;
    office.time.forward(HOUR);
    await office.send();
    expect(receiver.got).toHaveLength(before);
    // when it is enabled again
    receiver.answerWith(200);
    await shop.must("PATCH", `/v1/webhook-endpoints/${id}`, { enabled: true });
    await office.send();
    expect(receiver.got.at(-1)?.body).toContain(waiting);
    expect(await shop.endpoint(id)).toMatchObject({
      enabled: true,
      disabledReason: null,
      failingSince: null,
    });
  });

  it("keeps no more than 4 kB of what it answers", async () => {
    receiver.answerWith((response) => void response.writeHead(500).end("é\0".repeat(10_000)));
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    const [{ response }] = await shop.deliveries(id);
    expect(response.length).toBeGreaterThan(1_000);
    expect(response.length).toBeLessThanOrEqual(4_096);
  });
});

describe("what came of attempts", () => {
  const outcomeOf = (status: number): Outcome => ({
    ...{ isAccepted: status < 300, isGone: status === 410, response: null, retryAfterMs: null },
    attempt: { at: office.time.now().toISOString(), status, problem: null, durationMs: 1 },
  });
  /** Written down together, in this order. */
  const write = (...came: readonly (readonly [DeliveryRow, number])[]) =>
    record(
      { db: database.db, newId, now: office.time.now, random: systemRandom },
      came.map(([delivery, status]) => ({ delivery, outcome: outcomeOf(status) })),
    );
  const isAwaited = async (statement: string) => {
    const waiting = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query ~ $1 AND query ~ 'webhook_delivery'`,
      [statement],
    );
    return waiting.length > 0;
  };
  /** Deliveries of so many events to each of the endpoints. */
  async function queued(shop: Awaited<ReturnType<typeof listener>>, count: number, urls: readonly string[]) {
    const ids: string[] = [];
    for (const url of urls) ids.push((await shop.listen(url)).id);
    for (let n = 0; n < count; n += 1) await shop.intent();
    while ((await office.tell()) > 0);
    const rows = await database.db.pool.select().from(webhookDelivery).orderBy(webhookDelivery.sequence);
    return ids.map((id) => ({ id, rows: rows.filter(({ endpointId }) => endpointId === id) }));
  }

  it("forgets the failures of an endpoint by a success of its own, and of no other", async () => {
    const shop = await listener();
    const [one, other] = await queued(shop, 6, [`${receiver.url}?one`, `${receiver.url}?other`]);
    const [a, b, c, d, e, last] = one?.rows ?? [];
    const [far] = other?.rows ?? [];
    if (!one || !other || !a || !b || !c || !d || !e || !last || !far) throw new Error("nothing is queued");
    const standing = (id: string) =>
      database.query(
        "SELECT failures, warned_days AS warned, failing_since IS NOT NULL AS fails FROM webhook_endpoint WHERE id = $1",
        [id],
      );
    await write([a, 500], [far, 500], [b, 500]);
    await database.query("UPDATE webhook_endpoint SET warned_days = 1");
    expect(await standing(one.id)).toEqual([{ failures: 2, warned: 1, fails: true }]);
    await write([c, 200]);
    expect(await standing(one.id)).toEqual([{ failures: 0, warned: 0, fails: false }]);
    expect(await standing(other.id)).toEqual([{ failures: 1, warned: 1, fails: true }]);
    // also within the minute in which the time of a success is not written anew
    const { lastSuccessAt } = await shop.endpoint(one.id);
    await write([d, 500]);
    expect(await standing(one.id)).toEqual([{ failures: 1, warned: 0, fails: true }]);
    await write([e, 200]);
    expect(await standing(one.id)).toEqual([{ failures: 0, warned: 0, fails: false }]);
    office.time.forward(61_000);
    await write([last, 200]);
    expect(Date.parse((await shop.endpoint(one.id)).lastSuccessAt)).toBeGreaterThan(
      Date.parse(lastSuccessAt) + 60_000,
    );
  });

  it("in one moment is a success where one was, and the end where one was 410, which is told once", async () => {
    const shop = await listener();
    const [one, other] = await queued(shop, 5, [`${receiver.url}?one`, `${receiver.url}?other`]);
    const [a, b, c, d, e] = one?.rows ?? [];
    const [f, g] = other?.rows ?? [];
    if (!one || !other || !a || !b || !c || !d || !e || !f || !g) throw new Error("nothing is queued");
    await write([a, 500], [b, 200]);
    expect(await shop.endpoint(one.id)).toMatchObject({ enabled: true, failingSince: null });
    await write([c, 410], [d, 200], [f, 410], [g, 500]);
    for (const { id } of [one, other])
      expect(await shop.endpoint(id)).toMatchObject({ enabled: false, disabledReason: "gone" });
    await write([e, 410]);
    expect(await outboxOf("webhook_endpoint.disabled")).toHaveLength(2);
  });

  it("is written down while the same events are replayed: neither is ended for the other's sake", async () => {
    const shop = await listener();
    const [one] = await queued(shop, 3, [receiver.url]);
    const [a, b, c] = one?.rows ?? [];
    if (!one || !a || !b || !c) throw new Error("nothing is queued");
    // Its row moves behind the others': it would come last where rows are gone through as they lie.
    await shop.must("POST", `/v1/webhook-deliveries/${a.id}/redeliver`);
    const [moved] = await database.db.pool.select().from(webhookDelivery).where(eq(webhookDelivery.id, a.id));
    if (!moved) throw new Error("it is gone");
    const span = {
      from: new Date(Date.now() - HOUR).toISOString(),
      to: new Date(Date.now() + HOUR).toISOString(),
    };
    const both = await database.db.tx(async (tx) => {
      await tx.execute(sql`SELECT 1 FROM webhook_delivery WHERE id = ${b.id} FOR UPDATE`);
      const replayed = shop.call("POST", `/v1/webhook-endpoints/${one.id}/replay`, { body: span });
      await until(() => isAwaited("INSERT INTO"), "the replay waits");
      const written = write([c, 500], [moved, 500]).then(
        () => "written",
        (error: unknown) => outageOf(error) ?? error,
      );
      await until(() => isAwaited("UPDATE webhook_delivery"), "the writing waits");
      return [replayed, written] as const;
    });
    const [replayed, written] = await Promise.all(both);
    expect([replayed.status, replayed.body, written]).toEqual([202, { events: 3 }, "written"]);
    // what was replayed meanwhile is sent again, whatever came of it
    const rows = await database.query("SELECT state, tries FROM webhook_delivery");
    expect(rows).toEqual(Array(3).fill({ state: "pending", tries: 0 }));
  });

  it("waits for nobody who queues an event for the endpoint, and the endpoint is had meanwhile", async () => {
    const shop = await listener();
    const [one] = await queued(shop, 1, [receiver.url]);
    const [row] = one?.rows ?? [];
    if (!one || !row) throw new Error("nothing is queued");
    await database.db.tx(async (tx) => {
      // As the row of a delivery holds it, which names the endpoint.
      await tx.execute(sql`SELECT 1 FROM webhook_endpoint WHERE id = ${one.id} FOR KEY SHARE`);
      await write([row, 500]);
      await shop.must("PATCH", `/v1/webhook-endpoints/${one.id}`, { description: "changed" });
      office.time.forward(HOUR);
      const taken = await takeEndpoints(database.db, { now: office.time.now(), limit: 9 });
      expect(taken).toMatchObject([{ id: one.id, failures: 1, description: "changed" }]);
    });
  });

  it("is kept of the last twenty", async () => {
    const shop = await listener();
    const [one] = await queued(shop, 1, [receiver.url]);
    const [row] = one?.rows ?? [];
    if (!one || !row) throw new Error("nothing is queued");
    const attempts = Array.from({ length: 20 }, (_, i) => ({ ...outcomeOf(500).attempt, durationMs: i }));
    await write([{ ...row, attempts }, 418]);
    const [{ attempts: kept }] = await shop.deliveries(one.id);
    expect(kept).toHaveLength(20);
    expect([kept[0], kept.at(-1)]).toMatchObject([{ durationMs: 1 }, { status: 418 }]);
  });
});

describe("where local targets are not allowed", () => {
  it("nothing is dialled that is private, whatever the row says", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tell();
    const guarded = openOffice(database, { allowLocalTargets: false, time: office.time });
    for (const url of [
      receiver.url,
      receiver.url.replace("http:", "https:"),
      "https://127.0.0.1/webhooks",
      "https://169.254.169.254/latest",
      "https://[::1]/webhooks",
      "https://localhost/webhooks",
    ]) {
      await database.query("UPDATE webhook_endpoint SET url = $1", [url]);
      await database.query("UPDATE webhook_delivery SET due_at = now() - interval '1 day', tries = 0");
      await guarded.send();
      const [{ attempts }] = await shop.deliveries(id);
      expect([url, attempts.at(-1).problem]).toEqual([
        url,
        expect.stringMatching(/^(blocked-address|url-not-allowed|unreachable)$/),
      ]);
    }
    expect(receiver.got).toEqual([]);
  });
});

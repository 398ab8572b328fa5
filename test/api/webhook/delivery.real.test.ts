import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { eventOf, receiveWebhooks, verified } from "../../support/webhook-receiver.ts";
import { freshOffice, newListener, openOffice } from "./office.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

const database = sharedDatabase();
const { office, receiver } = freshOffice(database);

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

  it("with 410 at an address that it has left meanwhile stays enabled, and gets the event at its new one", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    const answers: (() => void)[] = [];
    receiver.answerWith((response) => void answers.push(() => response.writeHead(410).end()));
    await shop.intent();
    await office.tell();
    await office.courier.turn();
    await until(async () => answers.length === 1, "it is being sent");
    const there = await receiveWebhooks();
    await shop.must("PATCH", `/v1/webhook-endpoints/${id}`, { url: there.url });
    answers[0]?.();
    await office.courier.idle();
    expect(await shop.endpoint(id)).toMatchObject({ enabled: true, url: there.url });
    office.time.forward(MINUTE);
    await office.send();
    await there.stop();
    expect(there.got.map((got) => eventOf(got).type)).toEqual(["payment.created"]);
    expect(await shop.deliveries(id)).toMatchObject([
      { state: "succeeded", attempts: [{ status: 410 }, { status: 200 }] },
    ]);
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

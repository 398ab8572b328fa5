/** Order, numbers at once, and several processes. */
import type { ServerResponse } from "node:http";
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock, systemRandom } from "#kernel/system";
import { openDatabase } from "#store";
import { createSafeFetch } from "../../../api/http/safe-fetch.ts";
import { keepEndpoint, leaveEndpoint, readDue, takeEndpoints } from "../../../api/webhook/due.ts";
import { type Line, serveLine } from "../../../api/webhook/line.ts";
import { record } from "../../../api/webhook/record.ts";
import { createSeal } from "../../../api/webhook/seal.ts";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { until } from "../../support/house.ts";
import { movableClock } from "../../support/payments.ts";
import { eventOf, type Receiver, receiveWebhooks } from "../../support/webhook-receiver.ts";
import { masterSecret } from "../caller.ts";
import { newId } from "../world.ts";
import { newListener, type Office, openOffice } from "./office.ts";

const database = sharedDatabase();
let offices: Office[];
let office: Office;
let receiver: Receiver;
beforeEach(async () => {
  await database.query("TRUNCATE outbox, event, webhook_delivery, webhook_endpoint CASCADE");
  office = openOffice(database);
  offices = [office];
  receiver = await receiveWebhooks();
});
afterEach(async () => {
  await Promise.all(offices.map(({ courier }) => courier.stop()));
  await receiver.stop();
});

/** Another process on the same database. */
function another(): Office {
  const opened = openOffice(database, { time: office.time });
  offices.push(opened);
  return opened;
}
/** Events that wait to be sent to an endpoint, each of a thing of its own. */
async function queue(endpointId: string, merchantId: string, count: number): Promise<void> {
  await database.query(
    `INSERT INTO event SELECT $1, 'evt_' || i, 'payment.created', i, 'pi_' || i, '{"object":{},"previous":null}', '2026-08-11', now(), now()
     FROM generate_series(1, $2::int) AS i`,
    [merchantId, count],
  );
  await database.query(
    `INSERT INTO webhook_delivery (merchant_id, id, endpoint_id, event_id, type, subject, sequence, state, tries, attempts, due_at, version, created_at, updated_at)
     SELECT merchant_id, 'whd_' || sequence, $1, id, type, subject, sequence, 'pending', 0, '[]', now(), 1, now(), now() FROM event`,
    [endpointId],
  );
}
/** A millisecond later: the database knows microseconds. */
const take = (limit = 16) =>
  takeEndpoints(database.db, { now: new Date(office.time.now().getTime() + 1), limit });
async function takeOne() {
  const [taken] = await take(1);
  if (!taken) throw new Error("nothing was taken");
  return taken;
}
const sequencesOf = (id: string) =>
  receiver.got
    .map(eventOf)
    .filter(({ data }) => data.object.paymentIntent.id === id)
    .map(({ sequence }) => sequence as number);
const steps = ["payment.clearing", "payment.funds_detected", "payment.funds_received", "payment.completed"];

describe("events of one thing", () => {
  it("arrive in their order, also when the receiver is slower with the earlier ones", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    const intents = [await shop.intent(), await shop.intent(), await shop.intent()];
    for (const step of steps) for (const id of intents) await shop.happens(id, step);
    let slowness = 60;
    receiver.answerWith((response) => {
      slowness -= 4;
      setTimeout(() => response.writeHead(200).end(), Math.max(slowness, 0));
    });
    await office.tellAndSend();
    expect(receiver.got).toHaveLength(15);
    for (const id of intents) {
      const told = sequencesOf(id);
      expect(told).toHaveLength(5);
      expect(told).toEqual(told.toSorted((a, b) => a - b));
    }
  });

  it("wait for an earlier one in its quick attempts, and no longer", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    const [id, other] = [await shop.intent(), await shop.intent()];
    receiver.answerWith((response, got) => {
      const isRefused = eventOf(got).type === "payment.created" && got.body.includes(id);
      response.writeHead(isRefused ? 500 : 200).end();
    });
    await shop.happens(id, "payment.clearing");
    const typesOf = () =>
      receiver.got
        .map(eventOf)
        .filter(({ data }) => data.object.paymentIntent.id === id)
        .map(({ type }) => type);
    await office.tellAndSend();
    expect(typesOf()).toEqual(["payment.created"]);
    expect(sequencesOf(other)).toHaveLength(1);
    office.time.forward(7_000);
    await office.send();
    expect(typesOf()).toEqual(["payment.created", "payment.created", "payment.clearing"]);
  });

  it("do not wait for an earlier one that the endpoint wants later", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    const id = await shop.intent();
    receiver.answerWith((response, got) => {
      const isRefused = eventOf(got).type === "payment.created";
      response.writeHead(isRefused ? 503 : 200, isRefused ? { "retry-after": "600" } : {}).end();
    });
    await shop.happens(id, "payment.clearing");
    const types = () => receiver.got.map(eventOf).map(({ type }) => type);
    await office.tellAndSend();
    expect(types()).toEqual(["payment.created", "payment.clearing"]);
    // and what was put off is sent when it was asked for, before what comes then
    await shop.happens(id, "payment.funds_detected");
    office.time.forward(600_000);
    await office.tellAndSend();
    expect(types().slice(2)).toEqual(["payment.created", "payment.funds_detected"]);
  });
});

describe("one endpoint", () => {
  it("gets eight requests at once, and no more, however many processes send", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    for (let n = 0; n < 60; n += 1) await shop.happens(await shop.intent(), "payment.clearing");
    receiver.answerWith((response) => void setTimeout(() => response.writeHead(200).end(), 20));
    while ((await office.tell()) > 0);
    await Promise.all([office, another(), another()].map((each) => each.send()));
    await office.send();
    expect(receiver.got).toHaveLength(120);
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-id"])).size).toBe(120);
    expect(receiver.mostAtOnce()).toBe(8);
  });
});

describe("a long queue", () => {
  it("is read by the page, also before the database has counted it", async () => {
    const shop = await newListener(database, office);
    const { id } = await shop.listen(receiver.url);
    await queue(id, shop.merchantId, 60_000);
    await database.query(
      "DELETE FROM pg_statistic WHERE starelid IN ('webhook_delivery'::regclass, 'event'::regclass)",
    );
    // As the courier has it; and the plans that other tests made for few rows are not kept by these connections.
    const parts = { url: database.url, log: silentLog, maxConnections: 1, role: "farebox_app" } as const;
    const db = openDatabase({ ...parts, name: "queue", byIndex: true });
    onTestFinished(() => db.close());
    const now = new Date(Date.now() + 60_000);
    const timed = async <T>(work: () => Promise<T>) => {
      const start = performance.now();
      return { found: await work(), ms: performance.now() - start };
    };
    const page = { now, inHand: ["whd_1"], limit: 128 };
    const throughAll = await timed(() => database.query("SELECT count(*) FROM webhook_delivery"));
    const tries: { readonly found: Awaited<ReturnType<typeof readDue>>; readonly ms: number }[] = [];
    while (tries.length < 3)
      tries.push(await timed(() => readDue(db, { merchantId: shop.merchantId, id }, page)));
    // Joined row by row with what is before it, it takes hundreds of times as long as to read the queue once.
    expect(Math.min(...tries.map(({ ms }) => ms))).toBeLessThan(20 * throughAll.ms);
    const due = tries[0]?.found ?? [];
    expect(due.map(({ delivery }) => delivery.sequence)).toEqual(
      Array.from({ length: 128 }, (_, i) => i + 2),
    );
  });
});

describe("several processes", () => {
  it("share many endpoints and send each event once", async () => {
    const others = [another(), another()];
    const shops = await Promise.all(Array.from({ length: 12 }, () => newListener(database, office)));
    for (const shop of shops) {
      await shop.listen(receiver.url);
      for (let n = 0; n < 5; n += 1) await shop.intent();
    }
    while ((await office.tell()) > 0);
    await Promise.all([office, ...others].map((each) => each.send()));
    expect(receiver.got).toHaveLength(60);
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-id"])).size).toBe(60);
  });

  it("take over from one that vanished in mid-attempt: sent again with the same id", async () => {
    const shop = await newListener(database, office);
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    // given a process that sends and is never heard of again
    const unanswered: ServerResponse[] = [];
    receiver.answerWith((response) => void unanswered.push(response));
    await office.tell();
    await office.courier.turn();
    await until(async () => receiver.got.length === 1, "the first one sends");
    receiver.answerWith(200);
    const heir = another();
    await heir.send();
    expect(receiver.got).toHaveLength(1);
    // when its lease is over
    await database.query("UPDATE webhook_endpoint SET leased_until = now(), lease = lease + 1");
    await heir.send();
    // then it is sent again, and what the first one may still write is not taken
    expect(receiver.got.map(({ headers }) => headers["webhook-id"])).toEqual([
      receiver.got[0]?.headers["webhook-id"],
      receiver.got[0]?.headers["webhook-id"],
    ]);
    unanswered[0]?.writeHead(500).end();
    await office.courier.idle();
    expect(await shop.deliveries(id)).toMatchObject([{ state: "succeeded", attempts: [{ status: 200 }] }]);
    expect(await shop.endpoint(id)).toMatchObject({ failingSince: null });
  });

  it("a clock that is moved takes no endpoint from who serves it", async () => {
    const time = movableClock();
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    await shop.intent();
    receiver.answerWith((response) => void setTimeout(() => response.writeHead(200).end(), 300));
    await office.tell();
    await office.courier.turn();
    await until(async () => receiver.got.length === 1, "it is sent");
    time.forward(86_400_000);
    await openOffice(database, { time }).send();
    await office.courier.idle();
    expect(receiver.got).toHaveLength(1);
  });
});

describe("an endpoint that is served", () => {
  it("is sent to where it moves from then on, and nothing more once it is disabled", async () => {
    const moved = await receiveWebhooks();
    for (const each of [receiver, moved])
      each.answerWith((response) => void setTimeout(() => response.writeHead(200).end(), 200));
    const shop = await newListener(database, office);
    const { id } = await shop.listen(receiver.url);
    await queue(id, shop.merchantId, 400);
    await office.courier.turn();
    await until(async () => receiver.got.length > 0, "it is served");
    await shop.must("PATCH", `/v1/webhook-endpoints/${id}`, { url: moved.url });
    await until(async () => moved.got.length > 0, "it is sent where it moved", 10_000);
    await shop.must("PATCH", `/v1/webhook-endpoints/${id}`, { enabled: false });
    const start = performance.now();
    await office.courier.idle();
    expect(performance.now() - start).toBeLessThan(6_000);
    const waiting = await database.query("SELECT 1 FROM webhook_delivery WHERE state = 'pending'");
    expect(receiver.got.length + moved.got.length + waiting.length).toBe(400);
    await moved.stop();
  });

  it("is not left while something is due: what ends during a look lets others go", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    await shop.happens(await shop.intent(), "payment.clearing");
    while ((await office.tell()) > 0);
    let looks = 0;
    let isWritten = false;
    const line: Line = {
      ...{ db: database.db, clock: systemClock, now: office.time.now, log: silentLog, revisions: [] },
      ...{ seal: createSeal(masterSecret, systemRandom), stopping: new AbortController().signal },
      ...{ fetch: createSafeFetch({ allowLocal: true, userAgent: "test" }), underWay: new Set() },
      // The second look finds the earlier event in hand, and comes back when that is written down.
      async inTurn(work) {
        looks += 1;
        const isSecond = looks === 2;
        const found = await work();
        if (isSecond) await until(async () => isWritten, "the earlier event is written down");
        return found;
      },
      async record(result) {
        await until(async () => looks > 1, "there is a second look");
        await record({ ...line, newId, random: systemRandom }, [result]);
        isWritten = true;
      },
    };
    await serveLine(line, await takeOne());
    expect(receiver.got.map((got) => eventOf(got).type)).toEqual(["payment.created", "payment.clearing"]);
  });

  it("is sent nothing more once it has said that it is gone, whatever waits", async () => {
    receiver.answerWith(410);
    const shop = await newListener(database, office);
    const { id } = await shop.listen(receiver.url);
    await queue(id, shop.merchantId, 60);
    await office.send();
    expect(await shop.endpoint(id)).toMatchObject({ enabled: false, disabledReason: "gone" });
    expect(receiver.got.length).toBeLessThanOrEqual(8);
  });
});

describe("a hold on an endpoint", () => {
  it("that is given up is free at once, in whichever part of a millisecond", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    await shop.intent();
    await office.tell();
    for (let i = 0; i < 50; i += 1) await leaveEndpoint(database.db, await takeOne());
  });

  it("that was lost neither keeps it nor gives it away", async () => {
    const shop = await newListener(database, office);
    await shop.listen(receiver.url);
    await shop.intent();
    await office.tell();
    const lost = await takeOne();
    await database.query("UPDATE webhook_endpoint SET leased_until = now() - interval '1 ms'");
    const held = await takeOne();
    expect(await keepEndpoint(database.db, lost)).toBeNull();
    await leaveEndpoint(database.db, lost);
    expect(await take()).toEqual([]);
    expect(await keepEndpoint(database.db, held)).toMatchObject({ id: held.id });
    await leaveEndpoint(database.db, held);
    expect((await takeOne()).id).toBe(held.id);
  });

  it("is had in turn, waits for nobody who changes the endpoint, and ends where that is disabled or deleted", async () => {
    const shop = await newListener(database, office);
    for (const place of ["a", "b"]) await shop.listen(`${receiver.url}?${place}`);
    await shop.intent();
    await office.tell();
    const first = await takeOne();
    await leaveEndpoint(database.db, first);
    const second = await takeOne();
    expect(second.id).not.toBe(first.id);
    await database.db.tx(async (tx) => {
      await tx.execute(sql`SELECT 1 FROM webhook_endpoint WHERE id = ${first.id} FOR UPDATE`);
      expect(await take()).toEqual([]);
    });
    const again = await takeOne();
    expect(again.id).toBe(first.id);
    await shop.must("PATCH", `/v1/webhook-endpoints/${first.id}`, { enabled: false });
    await shop.call("DELETE", `/v1/webhook-endpoints/${second.id}`);
    for (const held of [again, second]) {
      expect(await keepEndpoint(database.db, held)).toBeNull();
      await leaveEndpoint(database.db, held);
    }
    expect(await take()).toEqual([]);
  });
});

describe("stopping", () => {
  it("ends within moments of a receiver that is silent, and the event is sent later, as if it had not been", async () => {
    const shop = await newListener(database, office);
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    receiver.answerWith(() => {});
    await office.tell();
    await office.courier.turn();
    await until(async () => receiver.got.length === 1, "it is sent");
    const start = performance.now();
    await office.courier.stop();
    expect(performance.now() - start).toBeLessThan(4_500);
    expect(await shop.deliveries(id)).toMatchObject([{ state: "pending", attempts: [] }]);
    receiver.answerWith(200);
    await another().send();
    expect(await shop.deliveries(id)).toMatchObject([{ state: "succeeded" }]);
  });
});

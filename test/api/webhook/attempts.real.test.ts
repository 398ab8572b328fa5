/** What is written down of attempts to deliver, whoever does something with the same rows meanwhile. */
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { outageOf } from "#store";
import { takeEndpoints } from "../../../api/webhook/due.ts";
import type { DeliveryRow } from "../../../api/webhook/present.ts";
import { record } from "../../../api/webhook/record.ts";
import type { Outcome } from "../../../api/webhook/send.ts";
import { webhookDelivery } from "../../../api/webhook/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { newId } from "../world.ts";
import { freshOffice, newListener } from "./office.ts";

const HOUR = 3_600_000;

const database = sharedDatabase();
const { office, receiver } = freshOffice(database);

const listener = () => newListener(database, office);
const outboxOf = (type: string) =>
  database.query<{ payload: Record<string, unknown> }>("SELECT payload FROM outbox WHERE type = $1", [type]);

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

/** Events that a merchant has sent once more: one of them, or all of a time. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { eventOf } from "../../support/webhook-receiver.ts";
import { factId, freshOffice, newListener } from "./office.ts";

const DAY = 86_400_000;
const at = (ms: number) => new Date(office.time.now().getTime() + ms).toISOString();

const database = sharedDatabase();
const { office, receiver } = freshOffice(database);

const listener = () => newListener(database, office);
const path = "/v1/webhook-endpoints";

describe("POST /v1/webhook-deliveries/{id}/redeliver", () => {
  it("sends the event again, one that arrived and one that was given up, with the same id", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    const [delivery] = await shop.deliveries(id);
    const again = await shop.call("POST", `/v1/webhook-deliveries/${delivery.id}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { id: delivery.id, state: "pending" } });
    await office.send();
    expect(receiver.got).toHaveLength(2);
    expect(receiver.got[1]?.body).toBe(receiver.got[0]?.body);
    expect((await shop.deliveries(id))[0]).toMatchObject({
      state: "succeeded",
      attempts: [{ status: 200 }, { status: 200 }],
    });
    await database.query("UPDATE webhook_delivery SET state = 'failed', due_at = NULL, tries = 10");
    await shop.must("POST", `/v1/webhook-deliveries/${delivery.id}/redeliver`);
    await office.send();
    expect(receiver.got).toHaveLength(3);
  });

  it.each(["redeliver", "replay"])(
    "%s while it is being sent sends it again, whatever comes of that",
    async (how) => {
      const shop = await listener();
      const { id } = await shop.listen(receiver.url);
      await shop.intent();
      const answers: (() => void)[] = [];
      receiver.answerWith((response) => void answers.push(() => response.writeHead(200).end()));
      await office.tell();
      await office.courier.turn();
      await until(async () => answers.length === 1, "it is being sent");
      const [delivery] = await shop.deliveries(id);
      if (how === "redeliver") await shop.must("POST", `/v1/webhook-deliveries/${delivery.id}/redeliver`);
      else await shop.must("POST", `${path}/${id}/replay`, { from: at(-DAY), to: at(DAY) });
      receiver.answerWith(200);
      answers[0]?.();
      await office.courier.idle();
      await office.send();
      expect(receiver.got).toHaveLength(2);
      expect(await shop.deliveries(id)).toMatchObject([{ id: delivery.id, state: "succeeded" }]);
    },
  );

  it.each(["redeliver", "replay"])("%s of one that was given up has all its attempts anew", async (how) => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    await database.query("UPDATE webhook_delivery SET state = 'failed', due_at = NULL, tries = 10");
    const [delivery] = await shop.deliveries(id);
    receiver.answerWith(500);
    if (how === "redeliver") await shop.must("POST", `/v1/webhook-deliveries/${delivery.id}/redeliver`);
    else await shop.must("POST", `${path}/${id}/replay`, { from: at(-DAY), to: at(DAY) });
    await office.send();
    const [again] = await shop.deliveries(id);
    expect(again).toMatchObject({ state: "pending", attempts: [{ status: 200 }, { status: 500 }] });
    expect(Date.parse(again.nextAttemptAt) - Date.parse(again.updatedAt)).toBeLessThanOrEqual(6_001);
  });

  it("409 webhook_endpoint_disabled: nothing is queued", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await shop.intent();
    await office.tellAndSend();
    const [delivery] = await shop.deliveries(id);
    await shop.must("PATCH", `${path}/${id}`, { enabled: false });
    for (const [where, body] of [
      [`/v1/webhook-deliveries/${delivery.id}/redeliver`],
      [`${path}/${id}/replay`, { from: at(-DAY), to: at(DAY) }],
    ] as const) {
      const answer = await shop.call("POST", where, { body });
      expect([answer.status, answer.body.code]).toEqual([409, "webhook_endpoint_disabled"]);
    }
    expect(await shop.deliveries(id)).toEqual([delivery]);
  });
});

describe("POST …/replay", () => {
  it("sends what happened in a time, also before the endpoint was there, by type, oldest first", async () => {
    const shop = await listener();
    const early = await shop.intent();
    await shop.happens(early, "payment.clearing", "payment.failed");
    await office.tell();
    office.time.forward(DAY);
    const { id } = await shop.listen(receiver.url, ["payment.*"]);
    const other = await listener();
    await other.happens(await other.intent(), "payment.clearing", "payment.failed");
    await office.tell();
    const from = at(-2 * DAY);
    const replay = (body: object) => shop.must("POST", `${path}/${id}/replay`, { from, to: at(1), ...body });
    expect(await replay({ types: ["payment.clearing", "payment.failed"] })).toEqual({ events: 2 });
    await office.send();
    expect(receiver.got.map((got) => eventOf(got).type)).toEqual(["payment.clearing", "payment.failed"]);
    expect(await replay({ types: ["payment.failed"] })).toEqual({ events: 1 });
    expect(await replay({ types: ["refund.*"] })).toEqual({ events: 0 });
    expect(await replay({ from: at(-60_000) })).toEqual({ events: 0 });
    expect(await replay({ to: at(-DAY - 60_000) })).toEqual({ events: 0 });
    const deaf = await shop.listen(receiver.url, ["refund.*"]);
    for (const types of [undefined, ["payment.*"]])
      expect(await shop.must("POST", `${path}/${deaf.id}/replay`, { from, to: at(1), types })).toEqual({
        events: 0,
      });
    await office.send();
    expect(receiver.got).toHaveLength(3);
    expect(await shop.deliveries(id)).toHaveLength(2);
  });

  it("never sends pings, and 422 replay_too_large beyond 10 000 events", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    await database.query(
      `INSERT INTO event (merchant_id, id, type, sequence, subject, data, api_version, occurred_at, created_at)
       SELECT $1, overlay($2::text placing lpad(i::text, 8, '0') from 23 for 8), CASE WHEN i = 1 THEN 'ping' ELSE 'payment.created' END,
         i, 'pi_' || i, '{"object":{},"previous":null}', '2026-08-11', now(), now() FROM generate_series(1, 10001) AS i`,
      [shop.merchantId, factId(office.time)],
    );
    const body = { from: at(-DAY), to: at(DAY) };
    expect(await shop.must("POST", `${path}/${id}/replay`, body)).toEqual({ events: 10_000 });
    await database.query("UPDATE event SET type = 'payment.created' WHERE type = 'ping'");
    const answer = await shop.call("POST", `${path}/${id}/replay`, { body });
    expect([answer.status, answer.body.code]).toEqual([422, "replay_too_large"]);
  });
});

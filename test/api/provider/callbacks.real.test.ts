import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, it } from "vitest";
import { createSafeFetch, sandboxAccess, sandboxProvider } from "#api";
import { type Hex, toBytes } from "#kernel/bytes";
import { sharedDatabase } from "../../support/db.ts";
import { from, read } from "../caller.ts";
import { now, world } from "../world.ts";

const access = sandboxAccess("a master secret for tests");
const fetch = createSafeFetch({ allowLocal: true, userAgent: "test" });
const provider = sandboxProvider({ baseUrl: "http://127.0.0.1:1", access, fetch });
const path = "/v1/provider-webhooks/sandbox";
const LIMIT = 1_024 * 1_024;

const database = sharedDatabase();
let app: ReturnType<typeof world>["app"];
beforeAll(async () => {
  ({ app } = world({ db: database.db, providers: [provider] }));
});

const bodyOf = (reference: string) => JSON.stringify({ type: "clearing.updated", data: { id: reference } });
let count = 0;
function signed(body: string, { at = now, id = `sbe_${++count}` } = {}) {
  return {
    id,
    body,
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(access.webhookSecret).sign(id, at, body),
    },
  };
}
async function send({ body, headers }: Pick<ReturnType<typeof signed>, "body" | "headers">, to = path) {
  return read(await app.request(to, { method: "POST", body, headers }));
}
const inbox = () =>
  database.query<{
    event_id: string;
    type: string;
    reference: string;
    body: Hex;
    received_at: Date;
    handled_at: Date | null;
  }>("SELECT event_id, type, reference, body, received_at, handled_at FROM provider_event ORDER BY event_id");
const told = () => database.query("SELECT subject FROM outbox WHERE type = 'provider.event_received'");

describe("POST /v1/provider-webhooks/{provider}", () => {
  it("keeps the event with the exact bytes that were signed, and tells of it, before it answers", async () => {
    // unusual, but what was signed: an order of members and spaces that no serializer gives back
    const call = signed('{ "data":{"id":"sbx_1" },\n"type":"clearing.updated"}');
    const answer = await send(call);
    expect([answer.status, answer.body]).toEqual([200, { received: true }]);
    const [event, ...more] = await inbox();
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      event_id: call.id,
      type: "clearing.updated",
      reference: "sbx_1",
      received_at: now,
      handled_at: null,
    });
    expect(event && toBytes(event.body).toString("utf8")).toBe(call.body);
    expect(await told()).toEqual([{ subject: call.id }]);
  });

  it("answers 200 to an event that came before, and keeps and tells it once; at the same time, too", async () => {
    const call = signed(bodyOf("sbx_2"));
    const [events, facts] = [(await inbox()).length, (await told()).length];
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send(call)));
    answers.push(await send({ ...signed(bodyOf("sbx_2"), { id: call.id }) }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect([(await inbox()).length, (await told()).length]).toEqual([events + 1, facts + 1]);
  });

  it.each<[string, () => ReturnType<typeof signed>, string, number, string]>([
    [
      "of an unknown provider",
      () => signed(bodyOf("sbx_3")),
      "/v1/provider-webhooks/nobody",
      404,
      "not_found",
    ],
    [
      "that is stale",
      () => signed(bodyOf("sbx_3"), { at: new Date(now.getTime() - 301_000) }),
      path,
      401,
      "signature_invalid",
    ],
    [
      "changed on its way",
      () => ({ ...signed(bodyOf("sbx_3")), body: bodyOf("sbx_4") }),
      path,
      401,
      "signature_invalid",
    ],
    [
      "without any signature",
      () => ({ ...signed(bodyOf("sbx_3")), headers: {} as never }),
      path,
      401,
      "signature_invalid",
    ],
    ["signed, of a shape nobody knows", () => signed('{"type":1}'), path, 400, "validation_failed"],
    ["of more than 1 MiB", () => signed(bodyOf("x".repeat(LIMIT))), path, 413, "body_too_large"],
  ])("refuses one %s, and keeps nothing", async (_, call, to, status, code) => {
    const before = [await inbox(), await told()];
    const answer = await send(call(), to);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect([await inbox(), await told()]).toEqual(before);
  });

  it("takes a body of almost 1 MiB, as any other content type, too", async () => {
    const filler = " ".repeat(LIMIT - 200);
    const { body, headers } = signed(`${bodyOf("sbx_5")}${filler}`);
    expect(
      (await send({ body, headers: { ...headers, "content-type": "text/plain" } as never })).status,
    ).toBe(200);
  });

  it("needs no key, and counts callers by their address", async () => {
    const limited = world({ db: database.db, providers: [provider], rateLimits: "on" }).app;
    const knock = async (address: string) =>
      (await limited.request("/v1/provider-webhooks/nobody", { method: "POST" }, from(address))).status;
    const statuses = new Set<number>();
    for (let times = 0; times < 300; times += 1) statuses.add(await knock("192.0.2.1"));
    expect(statuses).toEqual(new Set([404, 429]));
    expect(await knock("192.0.2.2")).toBe(404);
  });
});

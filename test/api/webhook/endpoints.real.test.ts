import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { receiveWebhooks, verified } from "../../support/webhook-receiver.ts";
import { freshOffice, newListener, openOffice } from "./office.ts";

const DAY = 86_400_000;
const at = (ms: number) => new Date(office.time.now().getTime() + ms).toISOString();

const database = sharedDatabase();
const { office, receiver } = freshOffice(database);

const listener = () => newListener(database, office);
const path = "/v1/webhook-endpoints";
const input = { url: "https://shop.example/hooks", events: ["payment.*"] };

describe("a webhook endpoint", () => {
  it("is made, read, listed, changed and deleted; its secret is in the first answer and in no other", async () => {
    const shop = await listener();
    const made = await shop.call("POST", path, { body: { ...input, description: " Orders " } });
    const { secret, ...shown } = made.body;
    expect(made.status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.headers.get("location")).toBe(`${path}/${shown.id}`);
    expect(shown).toEqual({
      id: expect.stringMatching(/^whe_/),
      ...{ ...input, description: "Orders", enabled: true, disabledReason: null, disabledAt: null },
      ...{ apiVersion: "2026-08-11", failingSince: null, lastSuccessAt: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect(await shop.endpoint(shown.id)).toEqual(shown);
    office.time.forward(1);
    const later = await shop.listen(`${receiver.url}?later`);
    expect((await shop.must("GET", path)).map(({ id }: { id: string }) => id)).toEqual([later.id, shown.id]);
    expect((await shop.call("DELETE", `${path}/${later.id}`)).status).toBe(204);
    expect(await shop.must("GET", path)).toEqual([shown]);
    for (const _ of [1, 2]) await shop.must("POST", `${path}/${shown.id}/rotate-secret`, {});
    const changed = await shop.must("PATCH", `${path}/${shown.id}`, { events: ["*", "*"], enabled: false });
    expect(changed).toMatchObject({
      events: ["*"],
      enabled: false,
      disabledReason: "requested",
      url: input.url,
    });
    expect((await shop.call("DELETE", `${path}/${shown.id}`)).status).toBe(204);
    expect((await shop.call("GET", `${path}/${shown.id}`)).status).toBe(404);
    // its row stays for what was sent there, without what it signed with
    const secrets = await database.query(
      "SELECT secret, previous_secret, older_secrets FROM webhook_endpoint",
    );
    expect(secrets).toEqual(Array(2).fill({ secret: "0x", previous_secret: null, older_secrets: [] }));
    expect(await shop.must("GET", path)).toEqual([]);
  });

  it("keeps its secret sealed: nothing in the database holds it, and a row's seal opens no other row", async () => {
    const shop = await listener();
    const first = await shop.listen(`${receiver.url}?1`);
    const second = await shop.listen(`${receiver.url}?2`);
    const key = Buffer.from(first.secret.slice("whsec_".length), "base64");
    const [{ found }] = (await database.query<{ found: string }>(
      "SELECT string_agg(encode(secret, 'hex'), ' ') AS found FROM webhook_endpoint",
    )) as [{ found: string }];
    expect(found).not.toContain(key.toString("hex"));
    expect(found).not.toContain(Buffer.from(first.secret).toString("hex"));
    // when one row's secret is put into another's
    await database.query(
      "UPDATE webhook_endpoint SET secret = (SELECT secret FROM webhook_endpoint WHERE id = $1) WHERE id = $2",
      [first.id, second.id],
    );
    await shop.intent();
    await office.tellAndSend();
    // then nothing is signed with it there
    expect(await shop.deliveries(first.id)).toMatchObject([{ state: "succeeded" }]);
    expect(await shop.deliveries(second.id)).toMatchObject([{ state: "pending", attempts: [] }]);
  });

  it("is changed in nothing by being told to be as it is: why it is disabled, and since when it fails", async () => {
    const shop = await listener();
    const broken = await receiveWebhooks();
    broken.answerWith(500);
    receiver.answerWith(410);
    const [gone, failing] = [await shop.listen(receiver.url), await shop.listen(broken.url)];
    await shop.intent();
    await office.tellAndSend();
    await broken.stop();
    for (const [{ id }, enabled] of [
      [gone, false],
      [failing, true],
    ] as const) {
      const before = await shop.endpoint(id);
      const { updatedAt: _, ...kept } = before;
      expect([before.disabledReason, before.failingSince !== null]).toEqual([enabled ? null : "gone", true]);
      expect(await shop.must("PATCH", `${path}/${id}`, { enabled })).toMatchObject(kept);
    }
    // Enabled anew, it begins anew.
    await database.query("UPDATE webhook_endpoint SET warned_days = 1 WHERE id = $1", [gone.id]);
    expect(await shop.must("PATCH", `${path}/${gone.id}`, { enabled: true })).toMatchObject({
      ...{ enabled: true, disabledReason: null, disabledAt: null, failingSince: null },
    });
    expect(
      await database.query("SELECT failures, warned_days FROM webhook_endpoint WHERE id = $1", [gone.id]),
    ).toEqual([{ failures: 0, warned_days: 0 }]);
  });

  it("409 webhook_endpoint_limit: there are sixteen of a merchant at most, also when they are made at once", async () => {
    const shop = await listener();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.call("POST", path, { body: input })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(16).fill(201), ...Array(4).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe("webhook_endpoint_limit");
    await (await listener()).must("POST", path, input);
    const [{ id }] = await shop.must("GET", path);
    await shop.call("DELETE", `${path}/${id}`);
    await shop.must("POST", path, input);
  });

  it("pins the revision that its creation was answered in", async () => {
    const shop = await listener();
    const made = await shop.call("POST", path, { body: input, headers: { "service-version": "2026-08-11" } });
    expect(made.body.apiVersion).toBe("2026-08-11");
  });
});

describe("bad input", () => {
  const rows: readonly [what: string, body: unknown, answer: string, pointer: string | null][] = [
    ["no url", { events: ["*"] }, "400 validation_failed", "/url"],
    ["no events", { url: input.url }, "400 validation_failed", "/events"],
    ["an empty list", { ...input, events: [] }, "400 validation_failed", "/events"],
    [
      "an unknown type",
      { ...input, events: ["payment.*", "payment.done"] },
      "400 validation_failed",
      "/events/1",
    ],
    [
      "an unknown type behind one that is said twice",
      { ...input, events: ["payment.*", "payment.*", "payment.done"] },
      "400 validation_failed",
      "/events/2",
    ],
    ["an unknown family", { ...input, events: ["thing.*"] }, "400 validation_failed", "/events/0"],
    ["no pattern", { ...input, events: ["pay*"] }, "400 validation_failed", "/events/0"],
    ["a number", { ...input, events: [7] }, "400 validation_failed", "/events/0"],
    ["an unknown member", { ...input, secret: "whsec_mine" }, "400 validation_failed", "/secret"],
    [
      "a long description",
      { ...input, description: "x".repeat(141) },
      "400 validation_failed",
      "/description",
    ],
    ["a line break", { ...input, description: "a\nb" }, "400 validation_failed", "/description"],
    ["enabled as text", { ...input, enabled: "yes" }, "400 validation_failed", "/enabled"],
    ["no URL at all", { ...input, url: "shop" }, "422 url_not_allowed", "/url"],
    ["another scheme", { ...input, url: "ftp://shop.example/" }, "422 url_not_allowed", "/url"],
    ["a password", { ...input, url: "https://a:b@shop.example/" }, "422 url_not_allowed", "/url"],
    ["a fragment", { ...input, url: "https://shop.example/#a" }, "422 url_not_allowed", "/url"],
    [
      "a long URL",
      { ...input, url: `https://shop.example/${"a".repeat(2_100)}` },
      "400 validation_failed",
      "/url",
    ],
    [
      "a URL that is long as it is called",
      { ...input, url: `https://shop.example/${"é".repeat(400)}` },
      "422 url_not_allowed",
      "/url",
    ],
    ["http", { ...input, url: "http://shop.example/" }, "422 url_not_allowed", "/url"],
    ["another port", { ...input, url: "https://shop.example:8080/" }, "422 url_not_allowed", "/url"],
    ["loopback", { ...input, url: "https://127.0.0.1/" }, "422 url_not_allowed", "/url"],
    ["loopback, as a number", { ...input, url: "https://2130706433/" }, "422 url_not_allowed", "/url"],
    ["a private network", { ...input, url: "https://10.0.0.7/" }, "422 url_not_allowed", "/url"],
    ["metadata", { ...input, url: "https://169.254.169.254/" }, "422 url_not_allowed", "/url"],
    ["loopback of IPv6", { ...input, url: "https://[::ffff:127.0.0.1]/" }, "422 url_not_allowed", "/url"],
    ["an inner name", { ...input, url: "https://db.internal/" }, "422 url_not_allowed", "/url"],
    ["a bare name", { ...input, url: "https://localhost/" }, "422 url_not_allowed", "/url"],
    ["a bare name, to the root", { ...input, url: "https://localhost./" }, "422 url_not_allowed", "/url"],
    ["a name of the house", { ...input, url: "https://nas.local./" }, "422 url_not_allowed", "/url"],
    ["a password alone", { ...input, url: "https://:a@shop.example/" }, "422 url_not_allowed", "/url"],
    ["a user alone", { ...input, url: "https://a@shop.example/" }, "422 url_not_allowed", "/url"],
  ];

  it("of an endpoint is refused and named, when it is made and when it is changed", async () => {
    const guarded = openOffice(database, { allowLocalTargets: false, time: office.time });
    const shop = await newListener(database, guarded);
    const { id } = await shop.must("POST", path, input);
    for (const [what, body, answer, pointer] of rows) {
      const made = await shop.call("POST", path, { body });
      expect([what, `${made.status} ${made.body.code}`]).toEqual([what, answer]);
      if (pointer) expect([what, made.body.errors?.[0]?.pointer]).toEqual([what, pointer]);
      if (what.startsWith("no ") && what !== "no URL at all" && what !== "no pattern") continue;
      const changed = await shop.call("PATCH", `${path}/${id}`, { body });
      expect([what, `${changed.status} ${changed.body.code}`]).toEqual([what, answer]);
    }
    expect(await shop.must("GET", path)).toHaveLength(1);
    expect(await shop.endpoint(id)).toMatchObject(input);
  });

  it("of a rotation, a replay and lists is refused and named", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    const times = { from: at(-DAY), to: at(0) };
    const cases: readonly [method: string, path: string, body: unknown, pointer: string][] = [
      ["POST", `${path}/${id}/rotate-secret`, { graceSeconds: -1 }, "/graceSeconds"],
      ["POST", `${path}/${id}/rotate-secret`, { graceSeconds: 259_201 }, "/graceSeconds"],
      ["POST", `${path}/${id}/rotate-secret`, { graceSeconds: 1.5 }, "/graceSeconds"],
      ["POST", `${path}/${id}/replay`, { to: times.to }, "/from"],
      ["POST", `${path}/${id}/replay`, { ...times, from: "yesterday" }, "/from"],
      ["POST", `${path}/${id}/replay`, { ...times, from: at(-31 * DAY) }, "/from"],
      ["POST", `${path}/${id}/replay`, { ...times, to: times.from }, "/to"],
      ["POST", `${path}/${id}/replay`, { ...times, types: [] }, "/types"],
      ["POST", `${path}/${id}/replay`, { ...times, types: ["a b"] }, "/types/0"],
      ["POST", `${path}/${id}/replay`, { ...times, types: ["payment.*", "payments.*"] }, "/types/1"],
      ["GET", "/v1/events?order=up", undefined, "/query/order"],
      ["GET", "/v1/events?types=a%20b", undefined, "/query/types/0"],
      ["GET", "/v1/events?types=payment.*,payments.*", undefined, "/query/types/1"],
      ["GET", "/v1/events?createdFrom=today", undefined, "/query/createdFrom"],
      ["GET", "/v1/events?limit=0", undefined, "/query/limit"],
      ["GET", `${path}/${id}/deliveries?state=lost`, undefined, "/query/state"],
    ];
    for (const [method, where, body, pointer] of cases) {
      const answer = await shop.call(method, where, body === undefined ? {} : { body });
      expect([where, body, `${answer.status} ${answer.body.code}`]).toEqual([
        where,
        body,
        "400 validation_failed",
      ]);
      expect([where, body, answer.body.errors?.[0]?.pointer]).toEqual([where, body, pointer]);
    }
    for (const where of ["/v1/events?cursor=x", `${path}/${id}/deliveries?cursor=x`])
      expect((await shop.call("GET", where)).body.code).toBe("invalid_cursor");
    expect(await database.query("SELECT 1 FROM webhook_delivery")).toEqual([]);
  });
});

describe("POST …/rotate-secret", () => {
  /** Sends an event, and tells which secrets signed it. */
  async function signing({ intent }: Awaited<ReturnType<typeof listener>>) {
    await intent();
    await office.tellAndSend();
    const got = receiver.got.at(-1);
    if (!got) throw new Error("nothing came");
    return (secret: string) => {
      try {
        return Boolean(verified(got, secret));
      } catch {
        return false;
      }
    };
  }

  it("has both secrets sign for the grace, then the new one alone; without a grace at once", async () => {
    const shop = await listener();
    const { id, secret: old } = await shop.listen(receiver.url);
    const { secret: fresh } = await shop.must("POST", `${path}/${id}/rotate-secret`, {});
    expect(fresh).not.toBe(old);
    const next = () => signing(shop);
    const both = await next();
    expect([both(old), both(fresh)]).toEqual([true, true]);
    expect(receiver.got.at(-1)?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    office.time.forward(DAY - 60_000);
    const late = await next();
    expect([late(old), late(fresh)]).toEqual([true, true]);
    office.time.forward(60_001);
    const later = await next();
    expect([later(old), later(fresh)]).toEqual([false, true]);
    const { secret: third } = await shop.must("POST", `${path}/${id}/rotate-secret`, { graceSeconds: 0 });
    const last = await next();
    expect([last(fresh), last(third)]).toEqual([false, true]);
    expect(await database.query("SELECT previous_secret FROM webhook_endpoint")).toEqual([
      { previous_secret: null },
    ]);
  });

  it("twice within the grace leaves each replaced secret its own: the answer of the first may have been lost", async () => {
    const shop = await listener();
    const { id, secret: first } = await shop.listen(receiver.url);
    const rotate = async (graceSeconds: number): Promise<string> =>
      (await shop.must("POST", `${path}/${id}/rotate-secret`, { graceSeconds })).secret;
    const secrets = [first, await rotate(3_600), await rotate(7_200)];
    const sign = async () => secrets.map(await signing(shop));
    expect(await sign()).toEqual([true, true, true]);
    office.time.forward(3_600_001);
    expect(await sign()).toEqual([false, true, true]);
    secrets.push(await rotate(60), await rotate(0));
    expect(await sign()).toEqual([false, false, false, false, true]);
  });
});

describe("POST …/test", () => {
  it("sends a ping to this endpoint alone, whatever it listens to", async () => {
    const shop = await listener();
    const { id, secret } = await shop.listen(receiver.url, ["refund.*"]);
    await shop.listen(`${receiver.url}?other`);
    const { eventId } = await shop.must("POST", `${path}/${id}/test`);
    await office.tellAndSend();
    expect(receiver.got).toHaveLength(1);
    const [got] = receiver.got;
    expect(got && verified(got, secret)).toMatchObject({
      id: eventId,
      type: "ping",
      data: { object: { webhookEndpointId: id } },
    });
  });

  it("409 webhook_endpoint_disabled", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url, ["*"], { enabled: false });
    const answer = await shop.call("POST", `${path}/${id}/test`);
    expect([answer.status, answer.body.code]).toEqual([409, "webhook_endpoint_disabled"]);
    expect(await database.query("SELECT 1 FROM outbox WHERE type = 'ping'")).toEqual([]);
  });
});

describe("GET …/deliveries", () => {
  it("lists newest first, by state and by event, page by page", async () => {
    const shop = await listener();
    const { id } = await shop.listen(receiver.url);
    for (const status of [200, 410]) {
      receiver.answerWith(status);
      await shop.intent();
      await office.tellAndSend();
    }
    await shop.must("PATCH", `${path}/${id}`, { enabled: true });
    await shop.intent();
    await office.tell();
    const all = await shop.deliveries(id);
    expect(all.map(({ state }: { state: string }) => state)).toEqual(["pending", "failed", "succeeded"]);
    for (const [i, { state, eventId }] of all.entries())
      for (const query of [`?state=${state}`, `?eventId=${eventId}`])
        expect(await shop.deliveries(id, query)).toEqual([all[i]]);
    const first = await shop.call("GET", `${path}/${id}/deliveries?limit=2`);
    const next = /<https:\/\/pay\.example([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect([...first.body, ...(await shop.must("GET", next))]).toEqual(all);
  });
});

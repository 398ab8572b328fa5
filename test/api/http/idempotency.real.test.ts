import { createRoute, z } from "@hono/zod-openapi";
import { and, eq, like, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { outbox as facts, type Tx } from "#store";
import { fault } from "../../../api/http/faults.ts";
import { keyed, keyedAfter, pruneIdempotencyKeys } from "../../../api/http/idempotency.ts";
import { MoneyInput } from "../../../api/http/money.ts";
import { body, secretKey } from "../../../api/http/route.ts";
import { idempotencyKey } from "../../../api/http/tables.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, from, newCaller } from "../caller.ts";
import { newId, world } from "../world.ts";

const database = sharedDatabase();

/** One write under way; the test lets it go on. */
interface Step {
  readonly began: Promise<void>;
  readonly goOn: () => void;
}

/** An app with routes whose writes leave one fact each, and wait or fail as told: a process of its own, as far as keys
 *  are concerned. */
function house() {
  const { app } = world({ db: database.db });
  let ahead: ((tx: Tx) => Promise<void>) | undefined;
  const effect = async (tx: Tx, merchantId: string, note: string) => {
    await facts.append(tx, [
      { id: newId("evt"), type: "test.written", subject: note, merchantId, payload: {} },
    ]);
    const step = ahead;
    ahead = undefined;
    await step?.(tx);
  };
  const Input = z.strictObject({ note: z.string().default(""), price: MoneyInput.optional() });
  const write = (path: string, isRequired: boolean) =>
    app.openapi(
      createRoute({
        method: "post",
        path,
        ...secretKey({ permission: "x402:manage" }),
        request: { body: body(Input) },
        responses: { 201: { description: "written" } },
      }),
      (c) => {
        const input = c.req.valid("json");
        return keyed(c, { input, isRequired }, async (ctx) => {
          const id = newId("evt");
          await ctx.tx((tx) => effect(tx, ctx.merchantId, input.note));
          return { status: 201, body: { id, ...input }, headers: { Location: `/v1/notes/${id}` } };
        });
      },
    );
  write("/v1/notes", true);
  write("/v1/optional-notes", false);
  write("/v1/notes/{id}/copies", true);
  let looking = async () => {};
  app.openapi(
    createRoute({
      method: "put",
      path: "/v1/notes",
      ...secretKey({ permission: "x402:manage" }),
      responses: { 200: { description: "written" } },
    }),
    (c) =>
      keyedAfter(c, { input: null, isRequired: true, beforehand: () => looking() }, async (ctx) => {
        await ctx.tx((tx) => effect(tx, ctx.merchantId, "put"));
        return { status: 200, body: { id: newId("evt") } };
      }),
  );
  app.openapi(
    createRoute({
      method: "delete",
      path: "/v1/notes",
      ...secretKey({ permission: "x402:manage" }),
      responses: { 204: { description: "gone" } },
    }),
    (c) =>
      keyed(c, { input: null, isRequired: true }, async (ctx) => {
        await ctx.tx((tx) => effect(tx, ctx.merchantId, "deleted"));
        return { status: 204 };
      }),
  );
  return {
    app,
    /** The next write stops inside its transaction. */
    hold(): Step {
      let began = () => {};
      let goOn = () => {};
      const isIn = new Promise<void>((resolve) => {
        began = resolve;
      });
      const may = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      ahead = () => {
        began();
        return may;
      };
      return { began: isIn, goOn };
    },
    /** What writes find out beforehand. */
    before(work: () => Promise<void>) {
      looking = work;
    },
    failNext(error: unknown) {
      ahead = () => Promise.reject(error);
    },
    /** The next write does this in its transaction. */
    within(work: (tx: Tx) => Promise<void>) {
      ahead = work;
    },
  };
}

let shop: Caller;
let first: ReturnType<typeof house>;
let second: ReturnType<typeof house>;
beforeEach(async () => {
  shop = await newCaller(database.db);
  first = house();
  second = house();
});

function send(at: ReturnType<typeof house>, key: string | null, body: unknown = {}, path = "/v1/notes") {
  return caller(at.app, shop)("POST", path, {
    body,
    ...(key === null ? {} : { headers: { "idempotency-key": key } }),
  });
}
const effects = async () =>
  (await database.db.pool.select().from(outbox).where(eq(outbox.merchantId, shop.merchantId))).length;
const records = () =>
  database.db.pool
    .select()
    .from(idempotencyKey)
    .where(like(idempotencyKey.scope, `${shop.merchantId}%`));
const noted = async () =>
  (
    await database.query<{ action: string }>(
      "SELECT action FROM audit_entry WHERE merchant_id = $1 AND action LIKE '% /v1/%'",
      [shop.merchantId],
    )
  ).map(({ action }) => action);
const isReplay = ({ headers }: Answer) => headers.get("idempotent-replayed") === "true";
/** Sessions of this database that wait for a lock. */
const waiters = async () =>
  Number(
    (
      await database.query<{ n: string }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
    )[0]?.n,
  );

describe("the same key and the same body", () => {
  it("50 at once over two processes: done once, one first answer and 49 replays of it, byte for byte", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => send(i % 2 === 0 ? first : second, "k", { note: "a" })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter(isReplay)).toHaveLength(49);
    expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1);
    expect(await effects()).toBe(1);
    expect(await records()).toHaveLength(1);
    expect(await noted()).toEqual(["POST /v1/notes"]);
  });

  it("in other words is the same request: member order, defaults, and how an amount is spelt", async () => {
    const price = { amount: "10.0", asset: "USD" };
    await send(first, "k", { note: "", price });
    for (const same of [
      { price },
      { price: { asset: "USD", amount: "10.00" } },
      { price: { ...price, amount: "10" } },
    ])
      expect(isReplay(await send(first, "k", same))).toBe(true);
    expect(await effects()).toBe(1);
  });

  it("of a write that answers without a body is replayed without one", async () => {
    const call = caller(first.app, shop);
    const headers = { "idempotency-key": "k" };
    const answers = [
      await call("DELETE", "/v1/notes", { headers }),
      await call("DELETE", "/v1/notes", { headers }),
    ];
    expect(answers.map((answer) => [answer.status, answer.text, isReplay(answer)])).toEqual([
      [204, "", false],
      [204, "", true],
    ]);
    expect(await effects()).toBe(1);
  });

  it("of another merchant, on another route, or with other quotes is another key", async () => {
    await send(first, "k");
    expect(isReplay(await send(first, "k", {}, "/v1/optional-notes"))).toBe(false);
    expect(isReplay(await send(first, '"k"'))).toBe(false);
    shop = await newCaller(database.db);
    expect(isReplay(await send(first, "k"))).toBe(false);
  });
});

describe("409 idempotency_key_reused", () => {
  it("for another body, also while the first is running; nothing more is done", async () => {
    const { began, goOn } = first.hold();
    const one = send(first, "k", { note: "a" });
    await began;
    const twins = [send(first, "k", { note: "b" }), send(second, "k", { note: "b" })];
    await vi.waitUntil(async () => (await waiters()) === 1);
    goOn();
    expect((await one).status).toBe(201);
    const refused = [...(await Promise.all(twins)), await send(first, "k", { note: "c" })];
    expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      Array(3).fill("409 idempotency_key_reused"),
    );
    expect(await effects()).toBe(1);
  });

  it("for the same body on another object", async () => {
    await send(first, "k", {}, "/v1/notes/one/copies");
    expect((await send(first, "k", {}, "/v1/notes/two/copies")).body.code).toBe("idempotency_key_reused");
    expect(isReplay(await send(first, "k", {}, "/v1/notes/one/copies"))).toBe(true);
  });
});

describe("a twin of a write that is still running", () => {
  it("waits and gets the stored answer, in the same process and in another", async () => {
    const { began, goOn } = first.hold();
    const one = send(first, "k");
    await began;
    const twins = [send(first, "k"), send(second, "k")];
    await vi.waitUntil(async () => (await waiters()) === 1);
    goOn();
    const { text } = await one;
    for (const twin of await Promise.all(twins)) expect([twin.text, isReplay(twin)]).toEqual([text, true]);
    expect(await effects()).toBe(1);
  });

  it("goes on as the first when that one fails", async () => {
    const { began, goOn } = first.hold();
    const failing = send(first, "k", { note: "a" });
    await began;
    const twins = [send(first, "k", { note: "b" }), send(second, "k", { note: "b" })];
    await vi.waitUntil(async () => (await waiters()) === 1);
    // The statement that follows finds its session gone: the write fails, as it does when a process dies.
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'",
    );
    goOn();
    expect((await failing).status).toBe(503);
    const answers = await Promise.all(twins);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await effects()).toBe(1);
  });

  it("gets the stored answer where what it looks at beforehand has changed by the write itself", async () => {
    const put = (at: ReturnType<typeof house>) =>
      caller(at.app, shop)("PUT", "/v1/notes", { headers: { "idempotency-key": "k" } });
    const refused = fault("link_not_payable", { why: "it was paid as often as it may be" });
    const answers: Answer[] = [];
    second.before(async () => {
      if (answers.length === 0) answers.push(await put(first));
      throw refused;
    });
    const twin = await put(second);
    expect([twin.status, twin.text, isReplay(twin)]).toEqual([200, answers[0]?.text, true]);
    expect(await effects()).toBe(1);
    shop = await newCaller(database.db);
    expect((await put(second)).body.code).toBe("link_not_payable");
  });

  it("409 idempotency_in_progress with Retry-After once the wait is over, in the same process and in another", async () => {
    const { began, goOn } = first.hold();
    const one = send(first, "k");
    await began;
    const twins = await Promise.all([send(first, "k"), send(second, "k")]);
    for (const { status, body, headers } of twins)
      expect([status, body.code, headers.get("retry-after")]).toEqual([409, "idempotency_in_progress", "1"]);
    goOn();
    expect((await one).status).toBe(201);
    expect(await effects()).toBe(1);
  });

  it("waits longer than the write itself does for anything, once it is its turn", async () => {
    const limits: unknown[] = [];
    first.within(async (tx) => {
      const { rows } = await tx.execute(
        sql`SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement`,
      );
      limits.push(...rows);
    });
    expect((await send(first, "k")).status).toBe(201);
    expect(limits).toEqual([{ lock: "2s", statement: "5s" }]);
  });

  it("holds no database connection meanwhile: others are served", async () => {
    const { began, goOn } = first.hold();
    const one = send(first, "k");
    await began;
    const twins = Array.from({ length: 40 }, () => send(first, "k"));
    const others = await Promise.all(["a", "b", "c"].map((key) => send(first, key)));
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    goOn();
    expect((await Promise.all([one, ...twins])).every(({ status }) => status === 201)).toBe(true);
    expect(await effects()).toBe(4);
  });
});

describe("a write that fails", () => {
  it.each([
    ["a refusal", fault("url_not_allowed", { why: "test" }), 422],
    ["an outage", fault("unavailable"), 503],
    ["a bug", new Error("a bug"), 500],
  ])("with %s is undone whole, and its key is free", async (_name, error, status) => {
    first.failNext(error);
    expect((await send(first, "k")).status).toBe(status);
    expect([await effects(), await records()]).toEqual([0, []]);
    const again = await send(first, "k", { note: "other" });
    expect([again.status, isReplay(again)]).toEqual([201, false]);
  });
});

describe("the header", () => {
  it("400 idempotency_key_required where it is missing, with the page that explains it", async () => {
    const { status, body, headers } = await send(first, null);
    expect([status, body.code]).toEqual([400, "idempotency_key_required"]);
    expect(headers.get("link")).toBe('<https://pay.example/errors/idempotency_key_required>; rel="help"');
    expect(await effects()).toBe(0);
  });

  it("is optional where the route says so: without it every request is one of its own", async () => {
    for (const _ of [1, 2]) expect((await send(first, null, {}, "/v1/optional-notes")).status).toBe(201);
    expect([await effects(), await records()]).toEqual([2, []]);
  });

  it.each([
    ["empty", ""],
    ["256 characters", "k".repeat(256)],
    ["not ASCII", "schlüssel"],
    ["a tab", "a\tb"],
  ])("400 idempotency_key_invalid: %s", async (_name, key) => {
    expect((await send(first, key)).body.code).toBe("idempotency_key_invalid");
    expect(await effects()).toBe(0);
  });

  it("400 idempotency_key_invalid: sent twice, which a joined value would hide", async () => {
    const headers = {
      authorization: `Bearer ${shop.key}`,
      "content-type": "application/json",
      "idempotency-key": "a, b",
    };
    const env = from("192.0.2.1");
    env.incoming.rawHeaders.push("Idempotency-Key", "a", "idempotency-key", "b");
    const response = await first.app.request("/v1/notes", { method: "POST", headers, body: "{}" }, env);
    expect(await response.json()).toMatchObject({ status: 400, code: "idempotency_key_invalid" });
  });

  it("takes 255 printable characters, and is ignored on a read", async () => {
    const longest = `!~ "'${"k".repeat(250)}`;
    expect((await send(first, longest)).status).toBe(201);
    expect((await records())[0]?.key).toBe(longest);
    const read = await caller(first.app, shop)("GET", "/v1/x402/resources", {
      headers: { "idempotency-key": "k".repeat(256) },
    });
    expect(read.status).toBe(200);
  });
});

describe("records", () => {
  it("are kept for 30 days and then pruned in groups", async () => {
    for (const key of ["a", "b", "c"]) await send(first, key);
    const [{ createdAt, expiresAt } = { createdAt: new Date(), expiresAt: new Date() }] = await records();
    expect(expiresAt.getTime() - createdAt.getTime()).toBe(30 * 24 * 3_600_000);
    await database.db.pool
      .update(idempotencyKey)
      .set({ expiresAt: new Date(0) })
      .where(and(like(idempotencyKey.scope, `${shop.merchantId}%`), eq(idempotencyKey.key, "b")));
    const prune = (limit: number, now: Date) => pruneIdempotencyKeys(database.db, { now, limit });
    expect(await prune(10, new Date(1))).toBe(1);
    expect((await records()).map(({ key }) => key).sort()).toEqual(["a", "c"]);
    const later = new Date(expiresAt.getTime() + 1);
    const total = (await database.db.pool.select().from(idempotencyKey)).length;
    expect(await prune(1, later)).toBe(1);
    expect(await prune(1_000, later)).toBe(total - 1);
  });
});

/** Who gets into the dashboard, with what, and for how long. */
import { beforeEach, describe, expect, it } from "vitest";
import { createKey, revokeKey } from "#api";
import { dashboardJobs } from "../../../api/dashboard/jobs.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { type Caller, from, newCaller, newMerchantId, operatorOf } from "../caller.ts";
import { world } from "../world.ts";
import { type Ask, cookieOf, openSession, sessionOf, signIn } from "./room.ts";

const database = sharedDatabase();

let time: ManualClock;
let lines: readonly string[];
let ask: Ask;
let owner: Caller;
beforeEach(async () => {
  time = manualClock();
  const { app, log } = world({ db: database.db, time });
  lines = log.lines;
  ask = async (path, init) => app.request(path, init);
  owner = await newCaller(database.db);
});

const HOUR = 3_600_000;
const sessions = () =>
  database.query("SELECT key_id FROM dashboard_session WHERE merchant_id = $1", [owner.merchantId]);
const audit = async () =>
  (
    await database.query<{ action: string; actor: string }>(
      "SELECT action, actor FROM audit_entry WHERE merchant_id = $1 AND actor IS NOT NULL ORDER BY occurred_at, id",
      [owner.merchantId],
    )
  ).map(({ action, actor }) => [action, actor]);
/** What a browser at this address asks. */
const askFrom =
  (app: ReturnType<typeof world>["app"], address: string): Ask =>
  async (path, init) =>
    app.request(path, init, from(address));
const toSignIn = { status: 303, leadsTo: "/dashboard/sign-in?next=/dashboard/payments" };

describe("POST /dashboard/sign-in", () => {
  it("exchanges a key for a cookie that scripts, plain http and other sites' forms do not get", async () => {
    const response = await signIn(ask, owner.key);
    expect(response.headers.get("set-cookie")).toMatch(
      /^__Host-farebox_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await sessions()).toEqual([{ key_id: owner.keyId }]);
    expect(await audit()).toEqual([["dashboard.signed_in", owner.keyId]]);
    const session = sessionOf(ask, cookieOf(response));
    expect((await session.get("/dashboard/payments")).status).toBe(200);
    // under the name without the prefix another host of the domain could have set it
    const tossed = sessionOf(ask, session.cookie.replace("__Host-", ""));
    expect(await tossed.get("/dashboard/payments")).toMatchObject(toSignIn);
  });

  it("refuses what is no key, another kind, and a key that may not manage, and shows no key again", async () => {
    const { merchantId } = owner;
    const pk = await newCaller(database.db, { merchantId, kind: "pk" });
    const poor = await newCaller(database.db, { merchantId, permissions: ["payments:write"] });
    const cases = [
      ["", 401, "This key does not work here"],
      [`${owner.key.slice(0, -1)}!`, 401, "This key does not work here"],
      [pk.key, 403, "Secret key required"],
      [poor.key, 403, "merchant:manage"],
    ] as const;
    for (const [key, status, says] of cases) {
      const response = await signIn(ask, key);
      const page = await response.text();
      expect([response.status, page.includes(says)]).toEqual([status, true]);
      expect(response.headers.get("set-cookie")).toBeNull();
      if (key !== "") expect(page).not.toContain(key);
    }
    expect(await sessions()).toEqual([]);
    expect(lines.join()).not.toMatch(/[sp]k_/);
  });

  it("takes no form of another site", async () => {
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])
      expect((await signIn(ask, owner.key, headers)).status).toBe(403);
    expect(await sessions()).toEqual([]);
  });

  it("gives a new token to who brings a cookie along, and ends the session that had it", async () => {
    const first = cookieOf(await signIn(ask, owner.key));
    const second = cookieOf(await signIn(ask, owner.key, { cookie: first }));
    expect(second).not.toBe(first);
    expect(await sessions()).toHaveLength(1);
    expect(await sessionOf(ask, first).get("/dashboard/payments")).toMatchObject(toSignIn);
    const planted = `__Host-farebox_session=${"A".repeat(43)}`;
    expect(cookieOf(await signIn(ask, owner.key, { cookie: planted }))).not.toBe(planted);
    expect(await sessionOf(ask, planted).get("/dashboard/payments")).toMatchObject(toSignIn);
  });

  it("leads on to the page that was asked for, never to another site", async () => {
    const at = async (next: string) => {
      const page = await (await ask(`/dashboard/sign-in?next=${encodeURIComponent(next)}`)).text();
      return /name="next" value="([^"]*)"/.exec(page)?.[1] ?? null;
    };
    expect(await at("/dashboard/payments")).toBe("/dashboard/payments");
    for (const next of [
      "//evil.example",
      "https://evil.example",
      "/dashboard/../v1",
      "/dashboard//x",
      "/dashboard?a#b",
    ])
      expect(await at(next)).toBeNull();
    const narrowed = "/dashboard/payments?state=settled&from=2026-08-01&find=order%201";
    const { headers } = await ask(narrowed);
    const { searchParams } = new URL(headers.get("location") ?? "", "https://pay.example");
    expect(searchParams.get("next")).toBe(narrowed);
    expect((await at(narrowed))?.replaceAll("&amp;", "&")).toBe(narrowed);
  });

  it("429: attempts are limited by address", async () => {
    const { app } = world({ db: database.db, time, rateLimits: "on" });
    const seen = [];
    for (let i = 0; i < 12; i += 1)
      seen.push((await signIn(async (path, init) => app.request(path, init), "sk_x")).status);
    expect([seen[0], seen.at(-1)]).toEqual([401, 429]);
  });

  it("429: attempts are limited by key, from wherever and however it is pasted", async () => {
    const { app } = world({ db: database.db, time, rateLimits: "on" });
    const wrong = owner.key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const attempt = async (n: number, key: string) =>
      (await signIn(askFrom(app, `192.0.2.${n}`), key)).status;
    const pasted = (n: number) => `${[" ", "\t", "\u00a0"][n % 3]}${wrong}\n`;
    const seen = await Promise.all(Array.from({ length: 20 }, (_, n) => attempt(n, pasted(n))));
    expect([seen[0], seen.at(-1)]).toEqual([401, 429]);
  });
});

describe("a session", () => {
  it("ends after twelve idle hours, and not while it is used", async () => {
    const session = await openSession(ask, owner.key);
    await time.advance(11 * HOUR);
    expect((await session.get("/dashboard/payments")).status).toBe(200);
    await time.advance(11 * HOUR);
    expect((await session.get("/dashboard/payments")).status).toBe(200);
    await time.advance(12 * HOUR);
    expect(await session.get("/dashboard/payments")).toMatchObject(toSignIn);
    // and its cookie goes
    const { headers } = await ask("/dashboard", { headers: { cookie: session.cookie } });
    expect(headers.get("set-cookie")).toMatch(/^__Host-farebox_session=; Max-Age=0; /);
  });

  it("is forgotten when it lay idle too long, and no sooner", async () => {
    await openSession(ask, owner.key);
    await time.advance(11 * HOUR);
    const used = await openSession(ask, owner.key);
    const [prune] = dashboardJobs({ db: database.db, clock: time });
    const run = () => prune?.run({ fact: null, stopping: new AbortController().signal });
    await run();
    expect(await sessions()).toHaveLength(2);
    await time.advance(HOUR);
    await run();
    expect(await sessions()).toHaveLength(1);
    expect((await used.get("/dashboard/payments")).status).toBe(200);
  });

  it("that ended says so to who sends a form, and that nothing was done", async () => {
    const session = await openSession(ask, owner.key);
    const csrf = await session.token();
    await time.advance(12 * HOUR);
    const sent = await session.post("/dashboard/customers", { csrf, name: "Ada" });
    expect(sent).toMatchObject({ status: 303, leadsTo: "/dashboard/sign-in?ended=1" });
    const { text } = await session.get(sent.leadsTo ?? "");
    expect(text).toContain("Your session had ended, and nothing was done. Sign in, then send it again.");
    expect((await session.get("/dashboard/sign-in")).text).not.toContain("session had ended");
    expect(await database.query("SELECT 1 FROM customer WHERE merchant_id = $1", [owner.merchantId])).toEqual(
      [],
    );
  });

  it("ends with its key: revoked, or expired", async () => {
    const session = await openSession(ask, owner.key);
    await revokeKey(operatorOf(database.db, time), { key: owner.keyId });
    expect(await session.get("/dashboard/payments")).toMatchObject(toSignIn);
    const { plaintext } = await createKey(operatorOf(database.db, time), {
      merchantId: owner.merchantId,
      kind: "sk",
      name: "short",
      expiresAt: new Date(time.now().getTime() + HOUR),
    });
    const short = await openSession(ask, plaintext);
    expect((await short.get("/dashboard/payments")).status).toBe(200);
    await time.advance(HOUR);
    expect(await short.get("/dashboard/payments")).toMatchObject(toSignIn);
  });

  it("ends at sign-out, which needs its token", async () => {
    const session = await openSession(ask, owner.key);
    expect((await session.post("/dashboard/sign-out", { csrf: "x" })).status).toBe(403);
    const csrf = await session.token();
    await time.advance(1_000);
    expect((await session.post("/dashboard/sign-out", { csrf })).leadsTo).toBe("/dashboard/sign-in");
    expect(await sessions()).toEqual([]);
    expect(await session.get("/dashboard/payments")).toMatchObject(toSignIn);
    expect((await audit()).map(([action]) => action)).toEqual([
      "dashboard.signed_in",
      "dashboard.signed_out",
    ]);
  });

  it("opens pages only: the API wants a key, and pages take no key", async () => {
    const { cookie } = await openSession(ask, owner.key);
    expect((await ask("/v1/payments", { headers: { cookie } })).status).toBe(401);
    const headers = { authorization: `Bearer ${owner.key}` };
    expect((await ask("/dashboard/payments", { headers, redirect: "manual" })).status).toBe(303);
    // what cannot be the token of one is not looked up
    const { app } = world({ time });
    const nonsense = sessionOf(async (path, init) => app.request(path, init), "__Host-farebox_session=x");
    expect(await nonsense.get("/dashboard/payments")).toMatchObject(toSignIn);
  });

  it("429: cookies of no session are looked up for an address only so often; a session goes on elsewhere", async () => {
    const { app } = world({ db: database.db, time, rateLimits: "on" });
    const [here, there] = [askFrom(app, "192.0.2.1"), askFrom(app, "192.0.2.2")];
    const { cookie } = await openSession(here, owner.key);
    const madeUp = sessionOf(there, `__Host-farebox_session=${"A".repeat(43)}`);
    expect(await madeUp.get("/dashboard/payments")).toMatchObject(toSignIn);
    // Then none is looked up, whichever it is. On a busy machine a second may pass, and a few more are.
    const statusOfGood = async () => {
      await Promise.all(Array.from({ length: 60 }, () => madeUp.get("/dashboard/payments")));
      return (await sessionOf(there, cookie).get("/dashboard/payments")).status;
    };
    await expect.poll(statusOfGood, { timeout: 20_000 }).toBe(429);
    expect((await sessionOf(there, "").get("/dashboard/sign-in")).status).toBe(200);
    expect((await sessionOf(here, cookie).get("/dashboard/payments")).status).toBe(200);
  });

  it("reads what its key may read, and says what is missing", async () => {
    const { key } = await newCaller(database.db, {
      merchantId: owner.merchantId,
      permissions: ["merchant:manage"],
    });
    const session = await openSession(ask, key);
    expect((await session.get("/dashboard")).status).toBe(200);
    const page = await session.get("/dashboard/payments");
    expect([page.status, page.text.includes("payments:read")]).toEqual([403, true]);
  });

  it("of an address that its key does not work from is refused", async () => {
    const { key } = await newCaller(database.db, {
      merchantId: await newMerchantId(database.db),
      allowedIps: ["203.0.113.0/24"],
    });
    expect((await signIn(ask, key)).status).toBe(403);
    // nor does a cookie that was carried off work from elsewhere
    const { app } = world({ db: database.db, time });
    const { cookie } = await openSession(askFrom(app, "203.0.113.5"), key);
    const page = async (address: string) => sessionOf(askFrom(app, address), cookie).get("/dashboard");
    expect((await page("203.0.113.6")).status).toBe(200);
    expect(await page("198.51.100.1")).toMatchObject({
      status: 403,
      text: expect.stringContaining("Address not allowed"),
    });
  });

  it("is counted with its merchant's keys, and tells what is left", async () => {
    const { app } = world({ db: database.db, time, rateLimits: "on" });
    const { cookie } = await openSession(askFrom(app, "192.0.2.3"), owner.key);
    const { headers } = await askFrom(app, "192.0.2.3")("/dashboard", { headers: { cookie } });
    expect(headers.get("ratelimit")).toBe('"secret-key";r=99;t=1');
  });

  it("makes keys that last no longer than its own", async () => {
    const { merchantId } = owner;
    const expiresAt = new Date(time.now().getTime() + HOUR);
    const session = await openSession(ask, (await newCaller(database.db, { merchantId, expiresAt })).key);
    const csrf = await session.token();
    const make = (once: string, more: Record<string, string> = {}) =>
      session.post("/dashboard/api-keys", { csrf, once, kind: "sk", name: "made", preset: "full", ...more });
    const refused = await make("later", { expiresAt: "2099-01-01T00:00" });
    expect([refused.status, refused.text.includes(expiresAt.toISOString())]).toEqual([403, true]);
    expect((await make("same")).status).toBe(200);
    expect(
      await database.query("SELECT expires_at FROM api_key WHERE merchant_id = $1 AND name = 'made'", [
        merchantId,
      ]),
    ).toEqual([{ expires_at: expiresAt }]);
  });
});

describe("GET /dashboard/audit-log", () => {
  it("tells what was done, by which key, and nothing of another merchant", async () => {
    const other = await newCaller(database.db);
    await openSession(ask, other.key);
    const session = await openSession(ask, owner.key);
    const body = JSON.stringify({ name: "Ada", email: "ada@example.com" });
    const headers = { authorization: `Bearer ${owner.key}`, "content-type": "application/json" };
    const made = await ask("/v1/customers", { method: "POST", headers, body });
    const { id } = (await made.json()) as { id: string };
    expect(made.status).toBe(201);
    const page = await session.get("/dashboard/audit-log");
    for (const each of ["POST /v1/customers", id, owner.keyId, "dashboard.signed_in"])
      expect(page.text).toContain(each);
    expect(page.text).not.toContain(other.keyId);
    expect(await audit()).toContainEqual(["POST /v1/customers", owner.keyId]);
  });

  it.each(["GET", "HEAD"])("tells nothing of a %s, which changes nothing", async (method) => {
    const reader = await newCaller(database.db, {
      merchantId: owner.merchantId,
      permissions: ["customers:read"],
    });
    const before = await audit();
    const { status } = await ask("/v1/customers", {
      method,
      headers: { authorization: `Bearer ${reader.key}` },
    });
    expect(status).toBe(200);
    expect(await audit()).toEqual(before);
  });

  it("tells nothing of a write that was refused", async () => {
    const before = await audit();
    const { status } = await ask("/v1/payment-links/plink_01K2C0Z0000000000000000000/list", {
      method: "POST",
      headers: { authorization: `Bearer ${owner.key}` },
    });
    expect(status).toBe(404);
    expect(await audit()).toEqual(before);
  });
});

/** What lies behind the checkout page, as programs see it: who is shown what, the form, the status, the stream. */
import { describe, expect, it } from "vitest";
import { fixedRates, type Rates } from "#api";
import { systemClock } from "#kernel/system";
import { silentLog } from "../../support/dev-chain.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";

/** Nobody knows what a pound is in euro coins. */
const known = fixedRates({ clock: systemClock, log: silentLog });
const rates: Rates = {
  rate: (pair) =>
    pair.from === "GBP" && pair.to === "EURC"
      ? Promise.resolve({ ok: false, reason: "unknown_unit" })
      : known.rate(pair),
};

const world = sharedWorld({ rates });
const seller = sharedSeller(world);

const NOBODY = "pi_01K2C0Z0000000000000000000";
const at = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(`${world.baseUrl}${path}`, { redirect: "manual", ...init, headers });
const asPage = (path: string) => at(path, { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" });

/** Sends the form of the chooser; where it leads. */
async function choose(id: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const way = { chain: "local", asset: "USDC", executionPath: "deposit-match", ...fields };
  const response = await at(`/checkout/${id}/confirm`, headers, {
    method: "POST",
    body: new URLSearchParams(way),
  });
  return { status: response.status, leadsTo: response.headers.get("location") };
}
const orders = async (id: string) =>
  world.database.query<{ seq: number; path: string; asset: string; state: string }>(
    `SELECT seq, path, clearing_order.asset, clearing_order.state FROM clearing_order
     JOIN clearing ON clearing.id = clearing_id WHERE intent_id = $1 ORDER BY seq`,
    [id],
  );

describe("GET /checkout/{id}", () => {
  it("is a page for whoever asks for one, with a strict policy and nothing kept", async () => {
    const { id } = await seller.intent();
    const response = await asPage(`/checkout/${id}`);
    const headers = Object.fromEntries(response.headers);
    expect(response.status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=UTF-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex",
      vary: expect.stringContaining("Accept"),
    });
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers["permissions-policy"]).toContain("camera=()");
    const page = await response.text();
    expect(page).toMatch(/^<!doctype html>/i);
    expect(page).not.toMatch(/\sstyle=|\son\w+=|<script(?![^>]*\ssrc="\/assets\/)/);
  });

  it.each([undefined, "*/*", "text/html, application/json", "image/*, */*;q=0.5"])(
    "is the page for Accept: %s, and names the agent URL",
    async (accept) => {
      const { id } = await seller.intent();
      const response = await at(`/checkout/${id}`, accept === undefined ? {} : { Accept: accept });
      expect([response.status, response.headers.get("link")]).toEqual([
        200,
        `<${world.baseUrl}/x402/payables/${id}>; rel="alternate"; type="application/json"`,
      ]);
      expect(await response.text()).toMatch(/^<!doctype html>/i);
    },
  );

  it.each([
    { Accept: "application/json" },
    { Accept: "application/json, text/plain, */*" },
    { Accept: "text/html;q=0.5, application/json" },
    { Accept: "text/html", "X-PAYMENT": "e30=" },
    { "PAYMENT-SIGNATURE": "e30=" },
  ] as Record<string, string>[])("is the 402 of agents for %j", async (headers) => {
    const { id } = await seller.intent();
    const response = await at(`/checkout/${id}`, headers);
    expect(response.status).toBe(402);
    const told = JSON.parse(
      Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString("utf8"),
    );
    expect(told.resource.url).toBe(`${world.baseUrl}/x402/payables/${id}`);
    expect(response.headers.get("cache-control")).toContain("no-store");
  });

  it.each([NOBODY, "pi_x", "clr_01K2C0Z0000000000000000000", "mer_x"])("404 for %s, in both", async (id) => {
    const asJson = at(`/checkout/${id}`, { Accept: "application/json" });
    const [page, json] = [await asPage(`/checkout/${id}`), await asJson];
    expect([page.status, json.status]).toEqual([404, 404]);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(json.headers.get("content-type")).toBe("application/problem+json");
  });

  it("confirms nothing by being looked at", async () => {
    const { id } = await seller.intent();
    await asPage(`/checkout/${id}`);
    await asPage(`/checkout/${id}?change=1`);
    expect((await seller.read(id)).clearing).toBeNull();
  });

  it("names every rail of the asset that the merchant settles in, and no other", async () => {
    const { id } = await seller.intent({ settlementAsset: "EURC" });
    const page = await (await asPage(`/checkout/${id}`)).text();
    expect([...page.matchAll(/name="asset" value="(\w+)"/g)].map(([, asset]) => asset)).toEqual(["EURC"]);
  });

  it("greys a rail that cannot be priced, and says why", async () => {
    const { id } = await seller.intent({ amount: { amount: "8.00", asset: "GBP" } });
    const page = await (await asPage(`/checkout/${id}`)).text();
    expect(page).toContain("No rate right now");
    const offered = [...page.matchAll(/name="asset" value="(\w+)"/g)].map(([, asset]) => asset);
    expect(offered.sort()).toEqual(["USDC", "USDG"]);
    expect(await choose(id, { asset: "EURC" })).toEqual({
      status: 303,
      leadsTo: `/checkout/${id}?problem=rate_unavailable`,
    });
  });
});

describe("POST /checkout/{id}/confirm", () => {
  it("303 back: the first confirms, the next switch, a repeated one changes nothing", async () => {
    const { id } = await seller.intent();
    expect(await choose(id)).toEqual({ status: 303, leadsTo: `/checkout/${id}` });
    await choose(id);
    await choose(id, { asset: "EURC" });
    await choose(id, { executionPath: "on-chain-contract" });
    expect(await orders(id)).toEqual([
      { seq: 1, path: "deposit-match", asset: "USDC", state: "superseded" },
      { seq: 2, path: "deposit-match", asset: "EURC", state: "superseded" },
      { seq: 3, path: "on-chain-contract", asset: "USDC", state: "active" },
    ]);
    const order = await at(`/checkout/${id}/order`);
    expect(await order.json()).toMatchObject({ chain: "local", order: { amount: "10000000" } });
  });

  it("20 at once make one clearing and one order", async () => {
    const { id } = await seller.intent();
    const told = await Promise.all(Array.from({ length: 20 }, () => choose(id)));
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set([303]));
    expect(await orders(id)).toHaveLength(1);
  });

  it.each([
    [{ chain: "nowhere" }, "rail_unsupported"],
    [{ asset: "DOGE" }, "rail_unsupported"],
    [{ executionPath: "magic" }, "rail_unsupported"],
    [{ chain: "" }, "rail_unsupported"],
    [{ extra: "1" }, "rail_unsupported"],
    [{ payerAddress: "0x12" }, "payer_address"],
  ])("%o leads back with %s, and the page says it", async (fields, problem) => {
    const { id } = await seller.intent();
    const { status, leadsTo } = await choose(id, fields);
    expect([status, leadsTo]).toEqual([303, `/checkout/${id}?problem=${problem}`]);
    expect(await (await asPage(leadsTo ?? "")).text()).toContain('role="alert"');
    expect((await seller.read(id)).clearing).toBeNull();
  });

  it("says nothing of a problem that it does not know", async () => {
    const { id } = await seller.intent();
    const page = await (await asPage(`/checkout/${id}?problem=<b>you lost</b>`)).text();
    expect(page).not.toContain("you lost");
    expect(page).not.toContain('role="alert"');
  });

  it.each([
    [{ "Sec-Fetch-Site": "cross-site" }, 403],
    [{ "Sec-Fetch-Site": "same-site" }, 403],
    [{ Origin: "https://evil.example" }, 403],
    [{ "Sec-Fetch-Site": "same-origin", Origin: "null" }, 303],
    [{ Origin: "null" }, 303],
  ])("with %o answers %i", async (headers, status) => {
    const { id } = await seller.intent();
    expect((await choose(id, {}, headers)).status).toBe(status);
    expect((await orders(id)).length).toBe(status === 303 ? 1 : 0);
  });

  it.each([
    ["application/json", '{"chain":"local"}', 415],
    ["application/x-www-form-urlencoded", `chain=${"x".repeat(5_000)}`, 413],
    ["application/x-www-form-urlencoded", "chain=local&chain=base", 400],
  ])("a body of %s that is wrong", async (type, body, status) => {
    const { id } = await seller.intent();
    const response = await at(`/checkout/${id}/confirm`, { "Content-Type": type }, { method: "POST", body });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("text/html");
  });

  it("tells who asks for JSON what is wrong, as everything else does: here, that it takes a form", async () => {
    const headers = { Accept: "application/json", "Content-Type": "application/json" };
    const { id } = await seller.intent();
    const response = await at(`/checkout/${id}/confirm`, headers, { method: "POST", body: "{}" });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      415,
      "application/problem+json",
    ]);
    expect(await response.json()).toMatchObject({
      code: "unsupported_media_type",
      detail: "Send the body as application/x-www-form-urlencoded.",
    });
  });

  it("404 for an id of nobody, and what has ended stays as it is", async () => {
    expect((await choose(NOBODY)).status).toBe(404);
    const { id } = await seller.intent();
    await seller.cancel(id);
    expect((await choose(id)).leadsTo).toBe(`/checkout/${id}?problem=intent_not_confirmable`);
  });

  it("switches no more once money has come", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    await sendTo(world, deposit.address, 1_000_000n);
    await until(
      async () => (await seller.read(paymentIntent.id)).clearing.state === "funds-detected",
      "seen",
    );
    expect(await choose(paymentIntent.id, { asset: "EURC" })).toMatchObject({ status: 303 });
    expect(await orders(paymentIntent.id)).toHaveLength(1);
  });

  it("makes ten orders at most", async () => {
    const { id } = await seller.intent();
    for (let i = 0; i < 10; i += 1) await choose(id, { asset: i % 2 ? "USDC" : "USDG" });
    expect((await choose(id, { asset: "EURC" })).leadsTo).toBe(
      `/checkout/${id}?problem=rail_switched_too_often`,
    );
    expect(await orders(id)).toHaveLength(10);
  });
});

describe("GET /checkout/{id}/status", () => {
  it("tells what the payer needs, and nothing that is only the merchant's", async () => {
    const metadata = { secret: "a margin" };
    const customer = { email: "buyer@example.com" };
    const { paymentIntent, deposit } = await seller.asked({ metadata, customer, merchantReference: "R-1" });
    const response = await at(`/checkout/${paymentIntent.id}/status`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const status = await response.json();
    expect(status).toEqual({
      id: paymentIntent.id,
      status: "clearing",
      phase: "waiting",
      clearing: { state: "awaiting-funds" },
      merchant: { name: "Test Merchant", city: "Porto", countryCode: "PT" },
      amount: { amount: "10.00", asset: "USD", formatted: "10.00 USD", display: "$10.00" },
      executionPath: "deposit-match",
      chain: "local",
      address: deposit.address,
      uri: deposit.uri,
      due: expect.objectContaining({ amount: "10.000000", asset: "USDC" }),
      received: expect.objectContaining({ amount: "0.000000" }),
      remaining: expect.objectContaining({ amount: "10.000000" }),
      confirmations: null,
      required: 1,
      transactionHash: null,
      returned: [],
      expiresAt: expect.any(String),
      now: expect.any(String),
    });
    expect(JSON.stringify(status)).not.toMatch(/margin|buyer@|mer_|clr_|fee/);
  });

  it("404 for an id of nobody", async () => {
    expect((await at(`/checkout/${NOBODY}/status`)).status).toBe(404);
  });
});

/** Everything that a stream tells, until it ends by itself. */
async function* heard(response: Response) {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString("utf8");
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      yield { event: field("event"), id: Number(field("id")), data: JSON.parse(field("data") ?? "null") };
    }
  }
}

describe("GET /checkout/{id}/events", () => {
  it("tells where it stands, then each change, and ends when it is paid", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const response = await at(`/checkout/${paymentIntent.id}/events`, { Accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = [];
    for await (const event of heard(response)) {
      events.push(event);
      if (events.length === 1) await sendTo(world, deposit.address, 4_000_000n);
      if (event.data.phase === "underpaid" && event.data.remaining.amount === "6.000000")
        await sendTo(world, deposit.address, 6_000_000n);
    }
    const phases = events.map(({ data }) => data.phase).filter((phase, i, all) => phase !== all[i - 1]);
    expect([phases[0], phases[1], phases.at(-1)]).toEqual(["waiting", "underpaid", "paid"]);
    const ids = events.map(({ id }) => id);
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
    const { timeline } = await seller.read(paymentIntent.id);
    expect(ids.at(-1)).toBe(timeline.length);
    expect(events.every(({ event }) => event === "state")).toBe(true);
  }, 60_000);

  it("one that ended tells so once and is closed; resumed ones begin with what is now", async () => {
    const { paymentIntent } = await seller.asked();
    await seller.cancel(paymentIntent.id);
    const response = await at(`/checkout/${paymentIntent.id}/events`, { "Last-Event-ID": "1" });
    const events = [];
    for await (const event of heard(response)) events.push(event.data.phase);
    expect(events).toEqual(["cancelled"]);
  });

  it("404 for an id of nobody; 429 for one address with too many", async () => {
    expect((await at(`/checkout/${NOBODY}/events`)).status).toBe(404);
    const { paymentIntent } = await seller.asked();
    const done = new AbortController();
    const path = `/checkout/${paymentIntent.id}/events`;
    const open = await Promise.all(Array.from({ length: 30 }, () => at(path, {}, { signal: done.signal })));
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await at(path);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
    done.abort();
    await until(async () => {
      const again = new AbortController();
      const { status } = await at(path, {}, { signal: again.signal });
      again.abort();
      return status === 200;
    }, "streams that were left make room");
  });

  it("opens nothing for who asks for its headers alone, however often", async () => {
    const { paymentIntent } = await seller.asked();
    const path = `/checkout/${paymentIntent.id}/events`;
    for (let i = 0; i < 31; i += 1) {
      const { status, headers } = await at(path, {}, { method: "HEAD" });
      expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    }
    const done = new AbortController();
    const { status, headers } = await at(path, {}, { signal: done.signal });
    done.abort();
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect((await at(`/checkout/${NOBODY}/events`, {}, { method: "HEAD" })).status).toBe(404);
  });
});

describe("what a page loads", () => {
  it("is kept for ever at an address that changes with it, and is packed", async () => {
    const { id } = await seller.intent();
    const page = await (await asPage(`/checkout/${id}`)).text();
    const paths = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(paths).toHaveLength(2);
    for (const path of paths) {
      const response = await at(path);
      expect([response.status, response.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      expect(response.headers.get("cache-control")).toContain("immutable");
      expect((await response.text()).length).toBeLessThan(100_000);
    }
    expect((await at("/assets/pages-0000.css")).status).toBe(404);
  });
});

describe("a process that is about to stop", () => {
  it("ends its streams, so that browsers come back to another one", async () => {
    const { paymentIntent } = await seller.asked();
    const response = await at(`/checkout/${paymentIntent.id}/events`);
    const phases = [];
    for await (const { data } of heard(response)) {
      phases.push(data.phase);
      await world.house.drain();
    }
    expect(new Set(phases)).toEqual(new Set(["waiting"]));
  });
});

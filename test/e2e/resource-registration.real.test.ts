import { decodePaymentRequiredHeader } from "@x402/core/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, type Permission } from "#api";
import { checksum } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import { freshDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { type Answer, get, masterSecret, newMerchant, startHouse, until } from "../support/house.ts";

const path = "/v1/x402/resources";
type Merchant = Awaited<ReturnType<typeof newMerchant>>;

/** A chain on which one token is not what the configuration takes it for: the contract of USDG, named EURC. */
async function startWorld() {
  const dev = await startDevChain();
  const { assets } = dev.contracts;
  const tokens = [
    { symbol: "USDC", contract: assets.USDC },
    { symbol: "EURC", contract: assets.USDG },
  ];
  const misconfigured: DevChain = { ...dev, config: { ...dev.config, assets: tokens } };
  const database = await freshDatabase();
  const running = await startHouse(misconfigured, database);
  return {
    dev,
    database,
    ...running,
    async stop() {
      await running.stop();
      await database.drop();
      await dev.stop();
    },
  };
}

let world: Awaited<ReturnType<typeof startWorld>>;
let shop: Merchant;
let rival: Merchant;
beforeAll(async () => {
  world = await startWorld();
  shop = await newMerchant(world);
  rival = await newMerchant(world);
  const kinds = async () => (await get(world.baseUrl, "/x402/supported")).body.kinds as readonly unknown[];
  await until(async () => (await kinds()).length > 0, "the chain is supported");
});
afterAll(() => world.stop());

let count = 0;
const freshUrl = () => `https://shop.example/thing-${++count}`;
const terms = (changes: object = {}) => ({
  url: freshUrl(),
  price: { amount: "0.01", asset: "USD" },
  ...changes,
});

async function ask(
  method: string,
  at: string,
  { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${world.baseUrl}${at}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}
const register = (who: Merchant, body: unknown, headers?: Record<string, string>) =>
  ask("POST", path, { key: who.secretKey, body, ...(headers ? { headers } : {}) });

/** Problem details as every refusal has them; what they point to explains the code. */
async function expectProblem(answer: Answer, status: number, code: string, instance = path): Promise<void> {
  expect(answer.body).toMatchObject({
    type: `${world.baseUrl}/errors/${code}`,
    title: expect.any(String),
    status,
    detail: expect.stringMatching(/\w/),
    instance,
    code,
    requestId: answer.headers.get("request-id"),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.body.requestId).toMatch(/^req_/);
  expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts\b|insert into|drizzle/i);
  const page = await get(world.baseUrl, `/errors/${code}`);
  expect(page).toMatchObject({ status: 200, body: { code, status, title: answer.body.title } });
}

describe("registering", () => {
  it("201: the resource with what was read off the contract, for sale at once", async () => {
    const url = freshUrl();
    const made = await register(shop, {
      url,
      price: { amount: "0.01", asset: "USD" },
      description: "Weather",
    });
    expect(made.status).toBe(201);
    const { usdc, contracts } = world.dev;
    const rail = {
      chain: "local",
      asset: "USDC",
      contract: checksum(usdc),
      payTo: contracts.treasury.address,
      transferMethod: "eip3009",
      domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: checksum(usdc) },
    };
    expect(made.body).toMatchObject({
      id: expect.stringMatching(/^x402r_[0-9A-Z]{26}$/),
      merchantId: shop.id,
      url,
      description: "Weather",
      mimeType: "application/json",
      price: { amount: "0.01", asset: "USD" },
      maxTimeoutSeconds: 300,
      listed: false,
      accepts: [rail],
    });
    expect(made.headers.get("location")).toBe(`${path}/${made.body.id}`);
    expect(made.headers.get("cache-control")).toBe("no-store, private");
    // and what a payer is asked for is the same, without a key
    const asked = await ask("GET", `/x402/resources/${made.body.id}/payment-required`);
    expect(asked).toMatchObject({
      status: 200,
      body: {
        x402Version: 2,
        resource: { url, description: "Weather" },
        price: { amount: "0.01", asset: "USD" },
        rails: [rail],
        accepts: [
          {
            scheme: "exact",
            network: "eip155:31337",
            amount: "10000",
            asset: rail.contract,
            payTo: rail.payTo,
            maxTimeoutSeconds: 300,
            extra: { name: "USD Coin", version: "2", assetTransferMethod: "eip3009" },
          },
        ],
      },
    });
    const { price: _p, rails: _r, ...bare } = asked.body;
    expect(decodePaymentRequiredHeader(asked.headers.get("payment-required") ?? "")).toEqual(bare);
  });

  it("200: the same URL again is the same resource with other terms, and payers see those", async () => {
    const first = await register(shop, terms({ listed: true, tags: ["weather"] }));
    const again = await register(shop, { url: first.body.url, price: { amount: "2.50", asset: "USD" } });
    expect(again).toMatchObject({
      status: 200,
      body: { id: first.body.id, price: { amount: "2.50" }, listed: true, tags: [] },
    });
    const asked = await ask("GET", `/x402/resources/${first.body.id}/payment-required`);
    expect(asked.body.accepts[0].amount).toBe("2500000");
  });

  it.each([
    ["domain", { name: "Evil Coin", version: "9" }],
    ["transferMethod", "permit2"],
    ["payTo", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
    ["contract", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
    ["accepts", []],
    ["merchantId", "mer_00000000000000000000000000"],
    ["id", "x402r_00000000000000000000000000"],
  ])("400: %s is read or given by us and never taken from a body", async (key, value) => {
    const refused = await register(shop, terms({ [key]: value }));
    await expectProblem(refused, 400, "validation_failed");
    expect(refused.body.errors).toEqual([
      expect.objectContaining({ pointer: `/${key}`, code: "unknown_key" }),
    ]);
    const inRail = await register(shop, terms({ rails: [{ chain: "local", asset: "USDC", [key]: value }] }));
    await expectProblem(inRail, 400, "validation_failed");
    expect(inRail.body.errors[0]).toMatchObject({ pointer: `/rails/0/${key}` });
  });

  it.each([
    ["400 too_many_decimals", { price: { amount: "0.0000001", asset: "USD" } }, "/price/amount"],
    ["422 amount_too_small", { price: { amount: "0", asset: "USD" } }, "/price/amount"],
    ["422 amount_too_large", { price: { amount: "1000000.01", asset: "USD" } }, "/price/amount"],
    ["422 currency_unsupported", { price: { amount: "1", asset: "XAU" } }, "/price"],
    ["422 currency_unsupported", { price: { amount: "1", asset: "usd" } }, "/price"],
    ["422 currency_unsupported", { price: { amount: "1", asset: "constructor" } }, "/price"],
    ["422 rail_unsupported", { price: { amount: "1", asset: "EUR" } }, "/price/asset"],
    ["422 rail_unsupported", { rails: [{ chain: "base", asset: "USDC" }] }, "/rails/0"],
    ["422 rail_unsupported", { rails: [{ chain: "local", asset: "USDG" }] }, "/rails/0"],
    ["422 token_domain_unreadable", { rails: [{ chain: "local", asset: "EURC" }] }, "/rails/0"],
    ["422 token_domain_unreadable", { rails: [{ chain: "eip155:31337", asset: "EURC" }] }, "/rails/0"],
    ["422 url_not_allowed", { url: "https://shop.example/a?city=Oslo" }, "/url"],
    ["422 url_not_allowed", { url: "https://shop.example/a#top" }, "/url"],
    ["422 url_not_allowed", { url: "https://user:secret@shop.example/a" }, "/url"],
    ["422 url_not_allowed", { url: "ftp://shop.example/a" }, "/url"],
    ["422 url_not_allowed", { url: "/a" }, "/url"],
    ["400 validation_failed", { url: `https://shop.example/${"a".repeat(2_048)}` }, "/url"],
    ["400 validation_failed", { price: { amount: 0.01, asset: "USD" } }, "/price/amount"],
    ["400 validation_failed", { price: { amount: "-1", asset: "USD" } }, "/price/amount"],
    ["400 validation_failed", { price: { amount: "1e2", asset: "USD" } }, "/price/amount"],
    ["400 validation_failed", { price: { amount: "１", asset: "USD" } }, "/price/amount"],
    ["400 validation_failed", { price: "0.01 USD" }, "/price"],
    ["400 validation_failed", { maxTimeoutSeconds: 29 }, "/maxTimeoutSeconds"],
    ["400 validation_failed", { maxTimeoutSeconds: 601 }, "/maxTimeoutSeconds"],
    ["400 validation_failed", { maxTimeoutSeconds: "300" }, "/maxTimeoutSeconds"],
    ["400 validation_failed", { paymentFlow: "escrow" }, "/paymentFlow"],
    ["400 validation_failed", { mimeType: "json" }, "/mimeType"],
    ["400 validation_failed", { listed: "yes" }, "/listed"],
  ])("%s: %j, with a pointer, and nothing is registered", async (named, change, pointer) => {
    const [status, code] = named.split(" ") as [string, string];
    const rows = async () => (await world.database.query("SELECT count(*) FROM resource"))[0];
    const before = await rows();
    const refused = await register(shop, terms(change));
    await expectProblem(refused, Number(status), code);
    expect(refused.body.errors[0].pointer).toMatch(new RegExp(`^${pointer}`));
    expect(await rows()).toEqual(before);
  });

  it("names a refused rail to the operator, with what was expected and what came", async () => {
    const ready = await get(world.baseUrl, "/health/ready");
    expect(ready.status).toBe(200);
    expect(ready.body.checks.refusedRails).toEqual([
      { chain: "local", asset: "EURC", problem: expect.stringMatching(/expected the symbol EURC, got USDG/) },
    ]);
  });
});

describe("a URL belongs to one merchant", () => {
  it("409 url_registered_elsewhere, until the holder archives it", async () => {
    const { body: held } = await register(shop, terms());
    const refused = await register(rival, terms({ url: held.url }));
    await expectProblem(refused, 409, "url_registered_elsewhere");
    expect(JSON.stringify(refused.body)).not.toContain(shop.id);
    expect(JSON.stringify(refused.body)).not.toContain(held.id);
    expect((await ask("DELETE", `${path}/${held.id}`, { key: shop.secretKey })).status).toBe(204);
    const taken = await register(rival, terms({ url: held.url }));
    expect(taken.status).toBe(201);
    expect(taken.body.id).not.toBe(held.id);
    await expectProblem(await register(shop, terms({ url: held.url })), 409, "url_registered_elsewhere");
  });

  it("of twenty registrations at once by two merchants one wins, and all of its are one resource", async () => {
    const url = freshUrl();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const who = i % 2 === 0 ? shop : rival;
        return { who, answer: await register(who, terms({ url })) };
      }),
    );
    const won = answers.filter(({ answer }) => answer.status < 300);
    const lost = answers.filter(({ answer }) => answer.status >= 300);
    expect(new Set(won.map(({ who }) => who.id)).size).toBe(1);
    expect(new Set(won.map(({ answer }) => answer.body.id)).size).toBe(1);
    expect(won.filter(({ answer }) => answer.status === 201)).toHaveLength(1);
    expect(won).toHaveLength(10);
    expect(lost.map(({ answer }) => [answer.status, answer.body.code])).toEqual(
      Array(10).fill([409, "url_registered_elsewhere"]),
    );
    const open = await world.database.query(
      "SELECT merchant_id FROM payable WHERE url = $1 AND closed_at IS NULL",
      [url],
    );
    expect(open).toEqual([{ merchant_id: won[0]?.who.id }]);
    const rows = await world.database.query("SELECT merchant_id FROM resource WHERE url = $1", [url]);
    expect(rows).toEqual(open);
  });
});

describe("Idempotency-Key on registration", () => {
  it("the same request again is the first answer, byte for byte; another one is 409", async () => {
    const body = terms();
    const headers = { "Idempotency-Key": "registration 1" };
    const first = await register(shop, body, headers);
    const again = await register(shop, body, headers);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect([again.status, again.headers.get("location"), again.body]).toEqual([
      201,
      first.headers.get("location"),
      first.body,
    ]);
    await expectProblem(await register(shop, terms(), headers), 409, "idempotency_key_reused");
    expect((await register(rival, terms(), headers)).status).toBe(201);
  });

  it("ten at once: one registers, all get its answer", async () => {
    const body = terms();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => register(shop, body, { "Idempotency-Key": "registration 2" })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.has("idempotent-replayed"))).toHaveLength(9);
  });

  it("a refused request leaves its key free", async () => {
    const headers = { "Idempotency-Key": "registration 3" };
    await expectProblem(await register(shop, terms({ listed: "no" }), headers), 400, "validation_failed");
    const dear = terms({ price: { amount: "2000000", asset: "USD" } });
    await expectProblem(await register(shop, dear, headers), 422, "amount_too_large");
    expect((await register(shop, terms(), headers)).status).toBe(201);
  });

  it.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
    ["that is not ASCII", "clé"],
  ])("400: one that is %s", async (_name, key) => {
    await expectProblem(
      await register(shop, terms(), { "Idempotency-Key": key }),
      400,
      "idempotency_key_invalid",
    );
  });
});

describe("who may do what", () => {
  async function keyWith(permissions: readonly Permission[], kind: "sk" | "pk" = "sk"): Promise<string> {
    const { db, newId } = world.house;
    const operator = { db, clock: systemClock, newId, random: systemRandom, masterSecret };
    const key = await createKey(operator, { merchantId: shop.id, kind, name: "test", permissions });
    return key.plaintext;
  }
  const routes = (id: string) =>
    [
      ["GET", path, "x402:read"],
      ["GET", `${path}/${id}`, "x402:read"],
      ["POST", path, "x402:manage"],
      ["POST", `${path}/${id}/list`, "x402:manage"],
      ["POST", `${path}/${id}/unlist`, "x402:manage"],
      ["DELETE", `${path}/${id}`, "x402:manage"],
    ] as const;

  it("401 without a key or with one that is none, on every route, whatever the body", async () => {
    const { body } = await register(shop, terms());
    for (const [method, at] of routes(body.id))
      for (const key of [undefined, "sk_nonsense", shop.secretKey.slice(0, -1)]) {
        const sent = method === "POST" ? { body: "{" } : {};
        const refused = await ask(method, at, { ...(key === undefined ? {} : { key }), ...sent });
        await expectProblem(refused, 401, "unauthenticated", at);
        expect(refused.headers.get("www-authenticate")).toBe("Bearer");
      }
  });

  it("403 names the permission that is missing; a publishable key is no secret key", async () => {
    const { body } = await register(shop, terms());
    const [none, reader, publishable] = [
      await keyWith(["payments:write"]),
      await keyWith(["x402:read"]),
      await keyWith([], "pk"),
    ];
    for (const [method, at, permission] of routes(body.id)) {
      const sent = at === path && method === "POST" ? { body: terms() } : {};
      const refused = await ask(method, at, { key: none, ...sent });
      await expectProblem(refused, 403, "permission_denied", at);
      expect(refused.body.permission).toBe(permission);
      await expectProblem(
        await ask(method, at, { key: publishable, ...sent }),
        403,
        "secret_key_required",
        at,
      );
      const asReader = await ask(method, at, { key: reader, ...sent });
      if (permission === "x402:read") expect(asReader.status).toBe(200);
      else await expectProblem(asReader, 403, "permission_denied", at);
    }
  });

  it("404 for another merchant's resource on every route, and it stays as it is", async () => {
    const { body: mine } = await register(shop, terms({ listed: true }));
    for (const [method, at] of routes(mine.id).filter(([, route]) => route !== path))
      await expectProblem(await ask(method, at, { key: rival.secretKey }), 404, "not_found", at);
    const theirs = await ask("GET", `${path}?limit=200`, { key: rival.secretKey });
    expect(theirs.body.resources.map(({ id }: { id: string }) => id)).not.toContain(mine.id);
    const { findings: _none, ...asMade } = mine;
    expect((await ask("GET", `${path}/${mine.id}`, { key: shop.secretKey })).body).toMatchObject(asMade);
  });
});

describe("a resource's life", () => {
  it("is read, listed, unlisted and archived; then it is gone for its merchant and for payers", async () => {
    const { body: made } = await register(shop, terms());
    const at = `${path}/${made.id}`;
    const key = shop.secretKey;
    const listing = async () =>
      (await ask("GET", "/x402/resources?limit=100")).body.items.some(
        ({ id }: { id: string }) => id === made.id,
      );
    expect(await listing()).toBe(false);
    expect(await ask("POST", `${at}/list`, { key })).toMatchObject({ status: 200, body: { listed: true } });
    expect(await listing()).toBe(true);
    expect(await ask("POST", `${at}/list`, { key })).toMatchObject({ status: 200, body: { listed: true } });
    expect(await ask("POST", `${at}/unlist`, { key })).toMatchObject({
      status: 200,
      body: { listed: false },
    });
    expect(await listing()).toBe(false);
    // unlisted, it is still for sale to whoever knows it
    expect((await ask("GET", `/x402/resources/${made.id}/payment-required`)).status).toBe(200);
    expect((await ask("GET", `/x402/resources/${made.id}/supported`)).body.kinds).toHaveLength(1);
    expect(await ask("DELETE", at, { key })).toMatchObject({ status: 204, body: null });
    for (const [method, gone] of [
      ["GET", at],
      ["DELETE", at],
      ["POST", `${at}/list`],
      ["GET", `/x402/resources/${made.id}/supported`],
    ] as const)
      await expectProblem(await ask(method, gone, { key }), 404, "not_found", gone);
    const asked = `/x402/resources/${made.id}/payment-required`;
    await expectProblem(await ask("GET", asked), 410, "payable_closed", asked);
  });

  it("lists newest first, by pages, without what is archived", async () => {
    const seller = await newMerchant(world);
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await register(seller, terms())).body.id);
    await ask("DELETE", `${path}/${made[2]}`, { key: seller.secretKey });
    const seen: string[] = [];
    let at: string | null = `${path}?limit=2`;
    while (at !== null) {
      const page: Answer = await ask("GET", at, { key: seller.secretKey });
      expect(page.status).toBe(200);
      seen.push(...page.body.resources.map(({ id }: { id: string }) => id));
      const cursor = page.headers.get("next-cursor");
      at = cursor === null ? null : `${path}?limit=2&cursor=${encodeURIComponent(cursor)}`;
    }
    expect(seen).toEqual(made.filter((id) => id !== made[2]));
  });
});

describe("the discovery index", () => {
  it("shows what is listed and nothing else, and counts under the same filter", async () => {
    const words = "quokka";
    const price = (amount: string) => ({ price: { amount, asset: "USD" } });
    const cheap = (await register(shop, terms({ listed: true, description: words, ...price("0.01") }))).body;
    const dear = (await register(rival, terms({ listed: true, description: words, ...price("5") }))).body;
    await register(shop, terms({ description: words }));
    const find = async (query: string) => {
      const { status, body } = await ask("GET", `/x402/discovery/resources?query=${words}&${query}`);
      expect(status).toBe(200);
      return { ids: body.items.map(({ id }: { id: string }) => id), total: body.pagination.total };
    };
    const both = { ids: [cheap.id, dear.id], total: 2 };
    expect(await find("")).toEqual(both);
    expect(await find("type=http&network=eip155:31337&scheme=exact&asset=USDC")).toEqual(both);
    expect(await find(`payTo=${world.dev.contracts.treasury.address}`)).toEqual(both);
    expect(await find("limit=1")).toEqual({ ids: [cheap.id], total: 2 });
    expect(await find("limit=1&offset=1")).toEqual({ ids: [dear.id], total: 2 });
    expect(await find("maxUsdPrice=1")).toEqual({ ids: [cheap.id], total: 1 });
    for (const nothing of ["type=mcp", "network=eip155:1", "scheme=upto", "asset=EURC", "offset=2"])
      expect((await find(nothing)).ids).toEqual([]);
    await ask("POST", `${path}/${cheap.id}/unlist`, { key: shop.secretKey });
    expect(await find("")).toEqual({ ids: [dear.id], total: 1 });
  });

  it("tells a stranger nothing of a merchant but its name and id", async () => {
    const { body } = await register(shop, terms({ listed: true, description: "A numbat" }));
    const { items } = (await ask("GET", "/x402/resources?query=numbat")).body;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ id: body.id, merchant: { id: shop.id, name: "Test Merchant" } });
    expect(JSON.stringify(items)).not.toContain("feeBps");
    expect(JSON.stringify(items)).not.toContain("Porto");
  });
});

describe("what everybody may ask", () => {
  it.each([
    ["nobody's", "stl_00000000000000000000000000"],
    ["another kind's", "x402r_00000000000000000000000000"],
    ["a word", "latest"],
    ["an escaped slash", "stl_%2F"],
    ["SQL", "'%20OR%201=1--"],
  ])("404: the settlement of an id that is %s", async (_name, id) => {
    const answer = await ask("GET", `/x402/settlements/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body.code).toBe("not_found");
  });

  it("404 and 405 are problem details too", async () => {
    await expectProblem(await ask("GET", "/nowhere"), 404, "not_found", "/nowhere");
    const wrong = await ask("PUT", path, { key: shop.secretKey });
    expect(wrong).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
    expect(wrong.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "POST"]);
  });

  it("a browser on any page may ask and pay, and sees the payment headers", async () => {
    const preflight = await fetch(`${world.baseUrl}/x402/supported`, {
      method: "OPTIONS",
      headers: {
        Origin: "https://agent.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "payment-signature,access-control-expose-headers",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain(
      "payment-signature",
    );
    const asked = await fetch(`${world.baseUrl}/x402/supported`, {
      headers: { Origin: "https://agent.example" },
    });
    expect(asked.headers.get("access-control-expose-headers")).toContain("PAYMENT-REQUIRED");
  });

  it("the OpenAPI document has every route of the API, each with a summary and an answer", async () => {
    const { body: document } = await get(world.baseUrl, "/openapi.json");
    const served = world.house.app.routes
      .filter(({ method, path: at }) => method !== "ALL" && /^\/(v1|x402|health)(\/|$)/.test(at))
      // Speaks a protocol of its own, which describes itself.
      .filter(({ path: at }) => !at.startsWith("/x402/mcp"))
      .map(({ method, path: at }) => `${method.toLowerCase()} ${at.replace(/:(\w+)/g, "{$1}")}`);
    const documented = Object.entries(document.paths as Record<string, Record<string, unknown>>).flatMap(
      ([at, methods]) => Object.keys(methods).map((method) => `${method} ${at}`),
    );
    expect(served.filter((route) => !documented.includes(route))).toEqual([]);
    expect(served.length).toBeGreaterThan(15);
    for (const [at, methods] of Object.entries(document.paths as Record<string, Record<string, object>>))
      for (const [method, operation] of Object.entries(methods)) {
        expect(operation, `${method} ${at}`).toMatchObject({ summary: expect.stringMatching(/\w/) });
        expect(Object.keys((operation as { responses: object }).responses).length).toBeGreaterThan(0);
      }
  });
});

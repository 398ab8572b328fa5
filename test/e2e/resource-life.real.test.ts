/** Who may do what with a resource, its life, and what everybody may ask. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, type Permission } from "#api";
import { systemClock, systemRandom } from "#kernel/system";
import { type Answer, get, masterSecret, newMerchant } from "../support/house.ts";
import { path, type Shops, startShops, terms } from "./shops.ts";

let world: Shops["world"];
let shop: Shops["shop"];
let rival: Shops["rival"];
let ask: Shops["ask"];
let register: Shops["register"];
let expectProblem: Shops["expectProblem"];
beforeAll(async () => {
  ({ world, shop, rival, ask, register, expectProblem } = await startShops());
});
afterAll(() => world.stop());

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

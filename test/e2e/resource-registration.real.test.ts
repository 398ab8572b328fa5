/** What registering a resource answers, on the whole service. */
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { get } from "../support/house.ts";
import { freshUrl, path, type Shops, startShops, terms } from "./shops.ts";

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
    ["422 currency_unsupported", { price: { amount: "1", asset: "XAU" } }, "/price/asset"],
    ["422 currency_unsupported", { price: { amount: "1", asset: "usd" } }, "/price/asset"],
    ["422 currency_unsupported", { price: { amount: "1", asset: "constructor" } }, "/price/asset"],
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

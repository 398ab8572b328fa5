import { decodePaymentRequiredHeader } from "@x402/core/http";
import { validatePaymentRequired } from "@x402/core/schemas";
import { describe, expect, it } from "vitest";
import type { DiscoverQuery } from "#facilitator";
import { checksum } from "#kernel/bytes";
import {
  baseUrl,
  fakeFacilitator,
  nothingKnown,
  offer,
  payer,
  paymentId,
  quote,
  rail,
  requirements,
  resourceId,
  shownRail,
  treasury,
  txHash,
  world,
} from "../world.ts";

async function get(path: string, facilitator = fakeFacilitator(), headers: Record<string, string> = {}) {
  const response = await world({ facilitator }).app.request(path, { headers });
  const body = response.status === 304 ? {} : ((await response.json()) as Record<string, unknown>);
  return { response, body };
}

describe("GET /x402/resources/{id}/payment-required", () => {
  const path = `/x402/resources/${resourceId}/payment-required`;

  it("200: the PaymentRequired with price and rails; the bare one in the header", async () => {
    const { response, body } = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("max-age=30");
    const { price, rails, ...required } = body;
    expect(required).toEqual({
      x402Version: 2,
      resource: {
        url: "https://api.m.example/weather",
        description: "The weather of today",
        mimeType: "application/json",
        serviceName: "Weather",
        tags: ["weather"],
      },
      accepts: [
        { ...requirements, extra: { name: "USD Coin", version: "2", assetTransferMethod: "eip3009" } },
      ],
      extensions: { "payment-identifier": { info: { required: false }, schema: expect.any(Object) } },
    });
    expect(price).toEqual({ amount: "0.01", asset: "USD", formatted: "0.01 USD", display: "$0.01" });
    expect(rails).toEqual([shownRail(rail)]);
    const header = decodePaymentRequiredHeader(response.headers.get("payment-required") ?? "");
    expect(header).toEqual(required);
    expect(() => validatePaymentRequired(header)).not.toThrow();
  });

  it("names the flow only where it is not the default", async () => {
    const payable = { ...quote.payable, paymentFlow: "upfront" as const };
    const upfront = { ...offer, payable };
    const { body } = await get(path, fakeFacilitator({ offer: async () => upfront }));
    expect(body.accepts).toMatchObject([{ extra: { paymentFlow: "upfront" } }]);
  });

  it("404 for what is not there, 410 for what is archived", async () => {
    expect(
      (await get("/x402/resources/x402r_01K2C0Z0000000000000000001/payment-required")).response.status,
    ).toBe(404);
    expect((await get("/x402/resources/..%2F..%2Fetc/payment-required")).response.status).toBe(404);
    const payable = { ...quote.payable, closedAt: new Date() };
    const closed = { ...offer, payable, state: "closed" } as const;
    const { response, body } = await get(path, fakeFacilitator({ offer: async () => closed }));
    expect([response.status, body.code]).toEqual([410, "payable_closed"]);
  });
});

describe("GET …/supported", () => {
  it("200 on both bases: v2 and, where it has a name, v1", async () => {
    for (const path of ["/x402/supported", `/x402/resources/${resourceId}/supported`]) {
      const { response, body } = await get(path);
      expect(response.status).toBe(200);
      expect(body).toEqual({
        kinds: [
          { x402Version: 2, scheme: "exact", network: "eip155:8453" },
          { x402Version: 1, scheme: "exact", network: "base" },
        ],
        extensions: ["payment-identifier", "bazaar"],
        signers: { "eip155:8453": [checksum(treasury)] },
      });
    }
  });

  it("404 for an unknown resource", async () => {
    expect((await get("/x402/resources/x402r_01K2C0Z0000000000000000001/supported")).response.status).toBe(
      404,
    );
    expect((await get("/x402/resources/nonsense/supported")).response.status).toBe(404);
  });
});

describe("GET /x402/settlements/{id}", () => {
  const status = {
    paymentId,
    status: "settled" as const,
    success: true,
    reason: null,
    transaction: txHash,
    network: "eip155:8453",
    payer,
    block: 7,
    logIndex: 2,
    confirmations: 1,
    required: 1,
    chargeable: true,
  };

  it("200: chain facts only", async () => {
    const facilitator = fakeFacilitator({ status: async (id) => (id === paymentId ? status : null) });
    const { response, body } = await get(`/x402/settlements/${paymentId}`, facilitator);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store, private");
    const { reason: _none, ...rest } = status;
    expect(body).toEqual({ ...rest, payer: checksum(payer), errorReason: null });
  });

  it("404 for an id that nobody has, or that is none", async () => {
    expect((await get(`/x402/settlements/${paymentId}`)).response.status).toBe(404);
    const unasked = fakeFacilitator({ status: () => Promise.reject(new Error("asked")) });
    expect((await get("/x402/settlements/pi_01K2C0Z0000000000000000000", unasked)).response.status).toBe(404);
  });
});

describe("the discovery index", () => {
  function asked() {
    const queries: DiscoverQuery[] = [];
    const facilitator = fakeFacilitator({
      discover: async (query) => {
        queries.push(query);
        return { items: [{ ...quote, trust: nothingKnown }], total: 45 };
      },
    });
    return { queries, facilitator };
  }

  it("200: items, the same under resources, and the paging; alike on both paths", async () => {
    const first = await get("/x402/resources");
    const { items, resources, pagination } = first.body as Record<string, unknown[]>;
    expect(first.response.status).toBe(200);
    expect(first.response.headers.get("cache-control")).toBe("public, max-age=30");
    expect(first.response.headers.get("access-control-allow-origin")).toBe("*");
    expect(resources).toEqual(items);
    expect(pagination).toEqual({ limit: 20, offset: 0, total: 1, cursor: null });
    expect((await get("/x402/discovery/resources")).body).toEqual(first.body);
    expect(items).toHaveLength(1);
    expect(items?.[0]).toMatchObject({
      resource: "https://api.m.example/weather",
      type: "http",
      x402Version: 2,
      accepts: [{ asset: requirements.asset, amount: "10000" }],
      lastUpdated: "2026-08-11T09:30:00.000Z",
      id: resourceId,
      merchant: { id: quote.payable.merchantId, name: "Weather House" },
      price: { amount: "0.01", asset: "USD" },
      rails: [{ chain: "base", asset: "USDC" }],
      trust: { host: "api.m.example", hostVerified: false },
      links: { settle: `${baseUrl}/x402/resources/${resourceId}/settle` },
    });
  });

  it("hands the filters on and ignores what it does not know", async () => {
    const { queries, facilitator } = asked();
    await get(
      "/x402/resources?network=eip155:8453&asset=USDC&payTo=0xaa&scheme=exact&extensions=bazaar&maxUsdPrice=0.05&query=%20rain%20&type=http&foo=bar",
      facilitator,
    );
    expect(queries).toEqual([
      {
        kinds: ["resource"],
        type: "http",
        network: "eip155:8453",
        asset: "USDC",
        payTo: "0xaa",
        scheme: "exact",
        extension: "bazaar",
        maxUsdPrice: 50_000n,
        query: "rain",
        limit: 20,
        offset: 0,
      },
    ]);
  });

  it("clamps limit and offset, and refuses what is no number with the range", async () => {
    const { queries, facilitator } = asked();
    for (const search of ["limit=0", "limit=9999", "limit=-5&offset=-1", "limit=3&offset=40"])
      await get(`/x402/resources?${search}`, facilitator);
    expect(queries.map(({ limit, offset }) => [limit, offset])).toEqual([
      [1, 0],
      [100, 0],
      [1, 0],
      [3, 40],
    ]);
    const { response, body } = await get("/x402/resources?limit=many", facilitator);
    expect(response.status).toBe(400);
    expect(body.detail).toBe("limit is a whole number from 1 to 100.");
  });

  it("refuses a live that is neither true nor false: passed over, it would list what does not answer", async () => {
    const { queries, facilitator } = asked();
    for (const path of ["/x402/resources", "/x402/discovery/search", "/x402/payables"]) {
      const { response, body } = await get(`${path}?live=True`, facilitator);
      expect([path, response.status, body.errors]).toMatchObject([
        ...[path, 400],
        [{ pointer: "/query/live", detail: "true or false" }],
      ]);
      expect((await get(`${path}?live=false`, facilitator)).response.status).toBe(200);
    }
    expect(queries).toHaveLength(3);
  });

  it("lists nothing of another type, without asking", async () => {
    const { queries, facilitator } = asked();
    const { body } = await get("/x402/resources?type=grpc", facilitator);
    expect(body).toMatchObject({ items: [], pagination: { total: 0 } });
    expect(queries).toEqual([]);
  });

  it("search: resources only, paged by cursor to the end", async () => {
    const { queries, facilitator } = asked();
    const first = await get("/x402/discovery/search?query=rain&limit=1", facilitator);
    expect(first.body).not.toHaveProperty("items");
    const { cursor } = first.body.pagination as { cursor: string };
    await get(`/x402/discovery/search?query=rain&limit=1&cursor=${cursor}`, facilitator);
    expect(queries.map(({ offset, query }) => [offset, query])).toEqual([
      [0, "rain"],
      [1, "rain"],
    ]);
    const { response, body } = await get("/x402/discovery/search?cursor=nonsense", facilitator);
    expect([response.status, body.code]).toEqual([400, "invalid_cursor"]);
  });

  it("304 for a reader that has the same page", async () => {
    const { app } = world();
    const etag = (await app.request("/x402/resources")).headers.get("etag") ?? "";
    expect(etag).not.toBe("");
    const again = await app.request("/x402/resources", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  it("429 above the rate of one address", async () => {
    const { app } = world({ rateLimits: "on" });
    const answers = await Promise.all(Array.from({ length: 120 }, () => app.request("/x402/resources")));
    // 10 a second and 10 more at once; a slow machine may take more than a second.
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20);
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect((await app.request("/x402/supported")).status).toBe(200);
  });
});

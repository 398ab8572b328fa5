/** A stock Bazaar reader on our indexes, from what it finds to a payment that is good. */
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { declareDiscoveryExtension, validateDiscoveryExtension, withBazaar } from "@x402/extensions/bazaar";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { address, checksum } from "#kernel/bytes";
import { newPayer, type Payer, sharedMerchant, sharedWorld } from "../support/house.ts";

const COUNT = 23;
const words = "saffron";
const bazaar = {
  info: { input: { type: "http", method: "GET", queryParams: { city: "Oslo" } } },
  schema: {
    type: "object",
    properties: { input: { type: "object", properties: { queryParams: { type: "object" } } } },
  },
};

const world = sharedWorld();
const merchant = sharedMerchant(world);
let listed: string[];
let payer: Payer;
beforeAll(async () => {
  listed = [];
  for (let i = 0; i < COUNT; i += 1) {
    const { url } = await merchant.register({
      url: `https://shop${i % 9}.example/item/${i}`,
      description: `${words} number ${i}`,
      price: { amount: `0.0${1 + (i % 9)}`, asset: i % 5 === 0 ? "EUR" : "USD" },
      listed: true,
      ...(i % 2 ? { extensions: { bazaar } } : {}),
    });
    listed.push(url);
  }
  await merchant.register({ description: `${words} unlisted` });
  payer = await newPayer(world.dev);
  for (const { contract } of world.dev.config.assets ?? [])
    await world.dev.administer("mint", [payer.address, 10_000_000n], address(contract));
});

const client = () => withBazaar(new HTTPFacilitatorClient({ url: `${world.baseUrl}/x402` }));

async function everything(limit: number, filter: object = {}) {
  const { bazaar: reader } = client().extensions;
  const items: Awaited<ReturnType<typeof reader.listResources>>["items"] = [];
  const totals = new Set<number>();
  for (let offset = 0; ; offset += limit) {
    const page = await reader.listResources({ limit, offset, ...filter });
    items.push(...page.items);
    totals.add(page.pagination.total);
    if (offset + limit >= page.pagination.total) return { items, totals };
  }
}

describe("a stock Bazaar reader", () => {
  it("lists to the last page by whatever page size; each page tells the same total, which is what it got", async () => {
    for (const limit of [4, 10, 100]) {
      const { items, totals } = await everything(limit);
      expect([...totals]).toEqual([COUNT]);
      expect(items.map(({ resource }) => resource).sort()).toEqual(listed.toSorted());
    }
  });

  it("searches to the last page by cursor, and finds what it listed", async () => {
    const { bazaar: reader } = client().extensions;
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.search({ query: words, limit: 5, ...(cursor ? { cursor } : {}) });
      expect(page.resources.length).toBeGreaterThan(0);
      found.push(...page.resources.map(({ resource }) => resource));
      cursor = page.pagination?.cursor ?? undefined;
    } while (cursor);
    expect(found).toEqual((await everything(100, { query: words })).items.map(({ resource }) => resource));
    expect(found.toSorted()).toEqual(listed.toSorted());
  });

  it("filters, with totals under the same filter", async () => {
    const { items, totals } = await everything(3, { extensions: "bazaar" });
    expect([...totals]).toEqual([Math.floor(COUNT / 2)]);
    expect(items).toHaveLength(Math.floor(COUNT / 2));
    expect((await everything(100, { payTo: "0x0000000000000000000000000000000000000001" })).items).toEqual(
      [],
    );
    expect((await everything(100, { type: "mcp" })).items).toEqual([]);
  });

  it("gets blocks that its own package accepts", async () => {
    const { items } = await everything(100, { extensions: "bazaar" });
    for (const { extensions } of items)
      expect(validateDiscoveryExtension(extensions?.bazaar as never)).toEqual({ valid: true });
  });

  it("can sign every option that it finds, and the facilitator finds every signature good", async () => {
    const scheme = new ExactEvmScheme(privateKeyToAccount(payer.key));
    const facilitator = client();
    const { items } = await everything(100);
    const seen = new Set<string>();
    for (const { resource, accepts } of items) {
      expect(accepts.length).toBeGreaterThan(0);
      for (const accepted of accepts as PaymentRequirements[]) {
        seen.add(accepted.asset);
        const { payload } = await scheme.createPaymentPayload(2, accepted);
        const signed = { x402Version: 2, resource: { url: resource }, accepted, payload } as PaymentPayload;
        expect(await facilitator.verify(signed, accepted)).toEqual({
          isValid: true,
          payer: checksum(payer.address),
        });
      }
    }
    expect(seen.size).toBe(3);
  });

  it("is told by 304 that nothing changed, and may keep a page for half a minute", async () => {
    const url = `${world.baseUrl}/x402/discovery/resources?limit=2`;
    // The prober may write down what it found between two looks.
    await expect
      .poll(async () => {
        const { headers } = await fetch(url);
        expect(headers.get("cache-control")).toBe("public, max-age=30");
        expect(headers.get("access-control-allow-origin")).toBe("*");
        return (await fetch(url, { headers: { "If-None-Match": headers.get("etag") ?? "" } })).status;
      })
      .toBe(304);
  });

  /** Last: it adds to what is listed. */
  it("finds tools of MCP servers by their type, and nothing else", async () => {
    const tool = declareDiscoveryExtension({ toolName: "forecast", inputSchema: { type: "object" } });
    const { url } = await merchant.register({
      url: "https://shop1.example/mcp",
      description: `${words} tool`,
      listed: true,
      extensions: tool,
    });
    const found = async (type: string) => (await everything(100, { type })).items;
    expect(await found("mcp")).toMatchObject([{ resource: url, type: "mcp" }]);
    expect((await found("http")).map(({ resource }) => resource).toSorted()).toEqual(listed.toSorted());
    expect(await found("payment-link")).toEqual([]);
    expect(new Set((await everything(100)).items.map(({ type }) => type))).toEqual(new Set(["http", "mcp"]));
  });
});

import { decodePaymentSignatureHeader } from "@x402/core/http";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { SettleError } from "@x402/core/types";
import { withBazaar } from "@x402/extensions/bazaar";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { checksum } from "#kernel/bytes";
import {
  get,
  newMerchant,
  newPayer,
  type Payer,
  sharedMerchant,
  sharedWorld,
  signPayment,
  until,
} from "../support/house.ts";
import { whileBlocksAreHeld } from "./held-blocks.ts";
import { creditedOnce, creditsOf } from "./ledger.ts";
import { stockBuyer, told } from "./stock-buyer.ts";
import { type Sold, type StockMerchant, serveStockMerchant, untilSupported } from "./stock-merchant.ts";

const network = "eip155:31337";
const asset = "USDC@local";

const open: StockMerchant[] = [];

const world = sharedWorld({ settings: { maxWaitMs: 3_000 } });
const merchant = sharedMerchant(world);
beforeAll(async () => {
  await untilSupported(world);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function sell(facilitatorUrl: string, ...sold: readonly Sold[]) {
  const shop = await serveStockMerchant(network, facilitatorUrl, sold);
  open.push(shop);
  return shop;
}
const ofOne = (id: string) => `${world.baseUrl}/x402/resources/${id}`;
const ofAll = () => `${world.baseUrl}/x402`;

/** A buyer who has opened its limits for the dev token, which no client knows by itself. */
function buyerOf(payer: Payer) {
  return stockBuyer(payer, network, {
    allowedAssets: [{ network, asset: world.dev.usdc, maxAmountPerPayment: "10000" }],
  });
}

/** The very same payment once more, without a client. */
const payAgain = (url: string, payment: string | undefined) =>
  fetch(url, { headers: { "PAYMENT-SIGNATURE": payment ?? "" } });

describe("a stock merchant server on a resource's own base", () => {
  it("challenges, delivers against one payment, and refuses the same payment once more", async () => {
    // given a merchant server that asks us, and a buyer
    const resource = await merchant.register();
    const shop = await sell(ofOne(resource.id), { path: "/weather", resource });
    const payer = await newPayer(world.dev);
    const { pay, payments } = buyerOf(payer);
    const url = shop.at("/weather");
    // when nobody has paid, the server challenges with what we registered
    const unpaid = told(await fetch(url));
    expect(unpaid).toMatchObject({
      status: 402,
      receipt: null,
      challenge: { accepts: [{ network, amount: "10000", payTo: resource.accepts[0]?.payTo }] },
    });
    // when the buyer pays, it gets the content and a receipt
    const paid = await pay(url);
    const answer = told(paid);
    expect(await paid.json()).toEqual({ content: "/weather" });
    expect(answer).toMatchObject({
      status: 200,
      receipt: { success: true, network, payer: checksum(payer.address) },
    });
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
    // and the same payment again buys nothing and is booked nowhere
    const again = await payAgain(url, payments[0]);
    expect(told(again)).toMatchObject({ status: 402, challenge: { error: "duplicate_settlement" } });
    expect(shop.delivered("/weather")).toBe(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("settles before it delivers, where the flow is upfront, and then tells of the first payment", async () => {
    const resource = await merchant.register({ paymentFlow: "upfront" });
    const shop = await sell(ofOne(resource.id), { path: "/dear", resource, flow: "upfront" });
    const payer = await newPayer(world.dev);
    const { pay, payments } = buyerOf(payer);
    const url = shop.at("/dear");
    const first = told(await pay(url));
    expect(first).toMatchObject({ status: 200, receipt: { success: true } });
    // Upfront the server does not verify, so here our 409 itself reaches the buyer: the five fields, no new challenge.
    const again = told(await payAgain(url, payments[0]));
    expect(again).toMatchObject({
      status: 402,
      challenge: null,
      receipt: {
        success: false,
        errorReason: "duplicate_settlement",
        transaction: first.receipt?.transaction,
        network,
        payer: checksum(payer.address),
      },
    });
    expect(again.receipt?.errorMessage).toContain(first.receipt?.transaction);
    expect(shop.delivered("/dear")).toBe(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("refuses a payment that was signed for another resource of the same price", async () => {
    const [bought, other] = [await merchant.register(), await merchant.register()];
    const first = await sell(ofOne(bought.id), { path: "/a", resource: bought });
    const second = await sell(ofOne(other.id), { path: "/b", resource: other });
    const payer = await newPayer(world.dev);
    const { pay, payments } = buyerOf(payer);
    expect((await pay(first.at("/a"))).status).toBe(200);
    expect(told(await payAgain(second.at("/b"), payments[0]))).toMatchObject({
      status: 402,
      challenge: { error: "authorization_bound_elsewhere" },
    });
    expect(second.delivered("/b")).toBe(0);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(bought.id, asset));
  });
});

describe("a stock merchant server on the base for many resources", () => {
  it("sells two resources, each found by its URL, query or not", async () => {
    // given two registered URLs, one told by the route, one by the address it is called at
    const named = await merchant.register();
    const shop = await sell(ofAll(), { path: "/named", resource: named, url: named.url });
    const called = await merchant.register({ url: shop.at("/called") });
    const second = await sell(ofAll(), {
      path: "/called",
      resource: called,
      url: `${called.url}?city=Oslo#top`,
    });
    const payer = await newPayer(world.dev);
    const { pay, payments } = buyerOf(payer);
    // when both are bought
    expect((await pay(shop.at("/named"))).status).toBe(200);
    expect((await pay(second.at("/called"))).status).toBe(200);
    // then each is credited for itself, and repeating either buys nothing
    expect(await creditsOf(world.database, payer.address)).toEqual(
      [named.id, called.id].sort().flatMap((id) => creditedOnce(id, asset)),
    );
    expect(told(await payAgain(shop.at("/named"), payments[0])).status).toBe(402);
    expect(told(await payAgain(second.at("/called"), payments[1])).status).toBe(402);
    expect([shop.delivered("/named"), second.delivered("/called")]).toEqual([1, 1]);
    expect(await creditsOf(world.database, payer.address)).toHaveLength(4);
  });

  it("sells nothing at a URL that nobody registered", async () => {
    const resource = await merchant.register();
    const shop = await sell(ofAll(), { path: "/stray", resource });
    const payer = await newPayer(world.dev);
    const answer = told(await buyerOf(payer).pay(shop.at("/stray")));
    expect(answer).toMatchObject({ status: 402, receipt: null });
    expect(answer.challenge?.error).toContain("invalid_payment_requirements");
    expect(shop.delivered("/stray")).toBe(0);
    expect(await creditsOf(world.database, payer.address)).toEqual([]);
  });
});

describe("a payment whose block does not come", () => {
  const settles = () =>
    vi.mocked(globalThis.fetch).mock.calls.filter(([input]) => String(input).endsWith("/settle")).length;

  it("is told as pending after one repetition, never as a new challenge, and delivers when it is repeated later", async () => {
    const resource = await merchant.register();
    const shop = await sell(ofOne(resource.id), { path: "/slow", resource });
    const payer = await newPayer(world.dev);
    const { pay, payments } = buyerOf(payer);
    const url = shop.at("/slow");
    vi.spyOn(globalThis, "fetch");
    const pending = await whileBlocksAreHeld(world.dev, async () => {
      const answer = told(await pay(url));
      // while it is open, verify says yes to it: a no would make the server challenge anew
      const payload = decodePaymentSignatureHeader(payments[0] ?? "");
      const client = new HTTPFacilitatorClient({ url: ofOne(resource.id) });
      expect(await client.verify(payload, payload.accepted)).toMatchObject({ isValid: true });
      return answer;
    });
    expect(settles()).toBe(2);
    expect(pending).toMatchObject({
      status: 402,
      challenge: null,
      receipt: { success: false, errorReason: "settlement_pending", network },
    });
    const transaction = pending.receipt?.transaction;
    expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
    // when the buyer repeats the identical request, it gets what it paid for, from that very transaction
    const later = told(await payAgain(url, payments[0]));
    expect(later).toMatchObject({ status: 200, receipt: { success: true, transaction } });
    expect(payments).toHaveLength(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("delivers within the server's one repetition, when the block comes meanwhile", async () => {
    const resource = await merchant.register();
    const shop = await sell(ofOne(resource.id), { path: "/late", resource });
    const payer = await newPayer(world.dev);
    const { pay } = buyerOf(payer);
    vi.spyOn(globalThis, "fetch");
    const paid = await whileBlocksAreHeld(world.dev, async (release) => {
      const paying = pay(shop.at("/late"));
      await until(async () => settles() === 2, "the merchant server repeats its settle");
      await release();
      return paying;
    });
    expect(told(paid)).toMatchObject({ status: 200, receipt: { success: true } });
    expect(shop.delivered("/late")).toBe(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });
});

describe("HTTPFacilitatorClient", () => {
  type Payload = Parameters<HTTPFacilitatorClient["verify"]>[0];
  type Requirements = Parameters<HTTPFacilitatorClient["verify"]>[1];

  async function payment() {
    const resource = await merchant.register();
    const payer = await newPayer(world.dev);
    const { body } = await signPayment(world.dev, payer, resource);
    return {
      resource,
      payer,
      payload: body.paymentPayload as unknown as Payload,
      requirements: body.paymentRequirements as unknown as Requirements,
    };
  }

  it("getSupported: v2 only, since chain 31337 has no v1 name; on a resource's base its own networks", async () => {
    const resource = await merchant.register();
    const all = await new HTTPFacilitatorClient({ url: ofAll() }).getSupported();
    const one = await new HTTPFacilitatorClient({ url: `${ofOne(resource.id)}/` }).getSupported();
    expect(all.kinds).toEqual([{ x402Version: 2, scheme: "exact", network }]);
    expect(all.signers[network]).toEqual([checksum(world.dev.lane)]);
    expect(all.extensions).toEqual(["payment-identifier", "bazaar"]);
    expect(one).toEqual(all);
    const nobody = new HTTPFacilitatorClient({ url: ofOne("x402r_00000000000000000000000000") });
    await expect(nobody.getSupported()).rejects.toThrow("404");
  });

  it("verify and settle: valid, settled with our fields under extra, then valid no more", async () => {
    const { resource, payer, payload, requirements } = await payment();
    const client = new HTTPFacilitatorClient({ url: ofOne(resource.id) });
    expect(await client.verify(payload, requirements)).toEqual({
      isValid: true,
      payer: checksum(payer.address),
    });
    const settled = await client.settle(payload, requirements);
    expect(settled).toMatchObject({
      success: true,
      network,
      payer: checksum(payer.address),
      amount: "10000",
      extra: { paymentId: expect.stringMatching(/^stl_/), settledBy: "farebox" },
    });
    expect(await client.verify(payload, requirements)).toMatchObject({
      isValid: false,
      invalidReason: "duplicate_settlement",
    });
  });

  it("settle of a settled payment throws a SettleError that tells all five fields", async () => {
    const { resource, payer, payload, requirements } = await payment();
    const client = new HTTPFacilitatorClient({ url: ofOne(resource.id) });
    const { transaction } = await client.settle(payload, requirements);
    const refused = await client.settle(payload, requirements).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SettleError);
    expect(refused).toMatchObject({
      statusCode: 409,
      errorReason: "duplicate_settlement",
      errorMessage: expect.stringContaining(transaction),
      transaction,
      network,
      payer: checksum(payer.address),
    });
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("settle for another resource throws a SettleError that tells nothing of the first", async () => {
    const { resource, payer, payload, requirements } = await payment();
    const other = await (await newMerchant(world)).register();
    const settled = await new HTTPFacilitatorClient({ url: ofOne(resource.id) }).settle(
      payload,
      requirements,
    );
    const elsewhere = new HTTPFacilitatorClient({ url: ofOne(other.id) });
    const refused = await elsewhere.settle(payload, requirements).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SettleError);
    expect(refused).toMatchObject({
      statusCode: 409,
      errorReason: "authorization_bound_elsewhere",
      transaction: "",
      network,
    });
    const message = (refused as SettleError).errorMessage;
    expect(message).not.toContain(settled.transaction);
    expect(message).not.toContain(resource.id);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("a refusal is an answer, not an exception", async () => {
    const { resource, payload, requirements } = await payment();
    const client = new HTTPFacilitatorClient({ url: ofOne(resource.id) });
    const cheaper = { ...requirements, amount: "1" };
    expect(await client.verify({ ...payload, accepted: cheaper }, cheaper)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_payment_requirements",
    });
    expect(await client.settle({ ...payload, accepted: cheaper }, cheaper)).toMatchObject({
      success: false,
      errorReason: "invalid_payment_requirements",
      transaction: "",
      network,
    });
  });
});

describe("a stock Bazaar reader", () => {
  it("lists to the last page, each listed resource once, and finds by words", async () => {
    const word = "zephyr";
    const listed: string[] = [];
    for (let i = 0; i < 5; i++)
      listed.push((await merchant.register({ listed: true, description: `A ${word} number ${i}` })).url);
    const hidden = await merchant.register({ description: `A hidden ${word}` });
    const { extensions } = withBazaar(new HTTPFacilitatorClient({ url: ofAll() }));
    // when it pages by offset
    const seen: string[] = [];
    for (let offset = 0, total = 1; offset < total; offset += 2) {
      const page = await extensions.bazaar.listResources({ type: "http", network, limit: 2, offset });
      total = page.pagination.total;
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ resource }) => resource));
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(seen.filter((url) => listed.includes(url))).toEqual(listed);
    expect(seen).not.toContain(hidden.url);
    // when it searches and follows the cursor
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await extensions.bazaar.search({ query: word, limit: 2, ...(cursor ? { cursor } : {}) });
      found.push(...page.resources.map(({ resource }) => resource));
      cursor = page.pagination?.cursor ?? undefined;
    } while (cursor);
    expect(found).toEqual(listed);
  });

  it("finds what it can pay: the first option of an item is the resource's own", async () => {
    const resource = await merchant.register({ listed: true, description: "An obsidian thing" });
    const { extensions } = withBazaar(new HTTPFacilitatorClient({ url: ofAll() }));
    const { resources } = await extensions.bazaar.search({ query: "obsidian" });
    const { body: required } = await get(ofOne(resource.id), "/payment-required");
    expect(resources).toHaveLength(1);
    expect(resources[0]).toMatchObject({ resource: resource.url, type: "http", x402Version: 2 });
    expect(resources[0]?.accepts).toEqual(required.accepts);
  });
});

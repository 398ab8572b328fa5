import { HTTPFacilitatorClient } from "@x402/core/server";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import {
  get,
  type Merchant,
  newMerchant,
  newPayer,
  type Payer,
  post,
  type Resource,
} from "../support/house.ts";
import { network, startBaseSepolia, usdc, v1Network } from "./base-sepolia.ts";
import { type BothVersionsMerchant, serveBothVersions, v1Option } from "./both-versions-merchant.ts";
import { creditedOnce, creditsOf, footprint } from "./ledger.ts";
import { signedBy, type Terms } from "./signed.ts";
import { stockBuyer, stockV1Buyer, told } from "./stock-buyer.ts";
import { serveStockMerchant, untilSupported } from "./stock-merchant.ts";

const asset = `USDC@${v1Network}`;

let world: Awaited<ReturnType<typeof startBaseSepolia>>;
let merchant: Merchant;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  world = await startBaseSepolia();
  merchant = await newMerchant(world);
  await untilSupported(world);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});
afterAll(() => world.stop());

const baseOf = ({ id }: Resource) => `${world.baseUrl}/x402/resources/${id}`;

async function shopOf(resource: Resource, facilitatorUrl = baseOf(resource)): Promise<BothVersionsMerchant> {
  const lookUpUrl = `${baseOf(resource)}/payment-required`;
  const shop = await serveBothVersions({ facilitatorUrl, lookUpUrl, v1Network });
  open.push(shop);
  return shop;
}

const read = (payment: string | undefined) =>
  JSON.parse(Buffer.from(payment ?? "", "base64").toString("utf8")) as {
    payload: Record<string, unknown>;
  };

/** A resource's first option in both versions' words. */
async function optionsOf(resource: Resource) {
  const { body: required } = await get(baseOf(resource), "/payment-required");
  const [v2] = required.accepts;
  return { v2, v1: v1Option(v2, required.resource, v1Network) };
}
type Options = Awaited<ReturnType<typeof optionsOf>>;

const v1Body = ({ v1 }: Options, payload: unknown) => ({
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: "exact", network: v1Network, payload },
  paymentRequirements: v1,
});
const v2Body = ({ v2 }: Options, resource: Resource, payload: unknown) => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, resource: { url: resource.url }, accepted: v2, payload },
  paymentRequirements: v2,
});

describe("a chain that v1 has a name for", () => {
  it("is supported in both versions, each in its own words", async () => {
    const { kinds } = await new HTTPFacilitatorClient({ url: `${world.baseUrl}/x402` }).getSupported();
    expect(kinds).toEqual([
      { x402Version: 2, scheme: "exact", network },
      { x402Version: 1, scheme: "exact", network: v1Network },
    ]);
  });

  it("offers the token as clients know it: address with its checksum, domain of the contract", async () => {
    const { v2 } = await optionsOf(await merchant.register());
    expect(v2).toMatchObject({
      network,
      asset: checksum(usdc),
      extra: { name: "USDC", version: "2" },
    });
  });
});

describe("a v2 client with nothing but its defaults", () => {
  it("pays a stock merchant server that names its price in dollars", async () => {
    const resource = await merchant.register();
    const sold = { path: "/thing", resource, price: "$0.01" };
    const shop = await serveStockMerchant(network, baseOf(resource), [sold]);
    open.push(shop);
    const payer = await newPayer(world.dev);
    const paid = await stockBuyer(payer, network).pay(shop.at("/thing"));
    expect(told(paid)).toMatchObject({ status: 200, receipt: { success: true, network } });
    expect(shop.delivered("/thing")).toBe(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("pays above a dollar nowhere: the second request never comes", async () => {
    const resource = await merchant.register({ price: { amount: "1.01", asset: "USD" } });
    const shop = await shopOf(resource);
    const { pay, payments } = stockBuyer(await newPayer(world.dev), network);
    await expect(pay(shop.url)).rejects.toThrow("spendControls");
    expect(payments).toEqual([]);
  });
});

describe("one URL for both versions", () => {
  it("is paid by a v1 client and by a v2 client, each its own way, each credited once", async () => {
    const resource = await merchant.register();
    const shop = await shopOf(resource);
    const [old, young] = [await newPayer(world.dev), await newPayer(world.dev)];
    const v1 = stockV1Buyer(old, v1Network);
    const v2 = stockBuyer(young, network);
    // when both buy
    const paidV1 = await v1.pay(shop.url);
    const paidV2 = await v2.pay(shop.url);
    // then v1 is answered in its own header and names
    expect(await paidV1.json()).toEqual({ content: "the thing" });
    expect(paidV1.headers.get("PAYMENT-RESPONSE")).toBeNull();
    expect(told(paidV1).receipt).toMatchObject({
      success: true,
      network: v1Network,
      payer: checksum(old.address),
    });
    expect(read(v1.payments[0])).toMatchObject({ x402Version: 1, scheme: "exact", network: v1Network });
    // and v2 in its
    expect(told(paidV2)).toMatchObject({ status: 200, receipt: { success: true, network } });
    for (const payer of [old, young])
      expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("delivers once for one v1 payment, also on the base for many resources", async () => {
    const resource = await merchant.register();
    const shop = await shopOf(resource, `${world.baseUrl}/x402`);
    const payer = await newPayer(world.dev);
    const { pay, payments } = stockV1Buyer(payer, v1Network);
    expect((await pay(shop.url)).status).toBe(200);
    const again = await fetch(shop.url, { headers: { "X-PAYMENT": payments[0] ?? "" } });
    expect(again.status).toBe(402);
    expect(await again.json()).toMatchObject({ x402Version: 1, error: "duplicate_settlement" });
    expect(shop.delivered()).toBe(1);
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });
});

describe("one authorization over both versions", () => {
  async function fresh() {
    const resource = await merchant.register();
    const options = await optionsOf(resource);
    const payer = await newPayer(world.dev);
    const payload = await signedBy(payer, { domain: domain(), to: options.v2.payTo, value: 10_000n });
    return { resource, options, payer, payload };
  }

  it.each([
    ["v1", "v2"],
    ["v2", "v1"],
  ] as const)("settled over %s it is a duplicate over %s", async (first, second) => {
    const { resource, options, payer, payload } = await fresh();
    const body = { v1: v1Body(options, payload), v2: v2Body(options, resource, payload) };
    const named = { v1: v1Network, v2: network };
    const settled = await post(baseOf(resource), "/settle", body[first]);
    expect(settled).toMatchObject({ status: 200, body: { success: true, network: named[first] } });
    const again = await post(baseOf(resource), "/settle", body[second]);
    expect(again).toMatchObject({
      status: 409,
      body: {
        success: false,
        errorReason: "duplicate_settlement",
        transaction: settled.body.transaction,
        network: named[second],
        payer: checksum(payer.address),
      },
    });
    expect(await post(baseOf(resource), "/verify", body[second])).toMatchObject({
      status: 200,
      body: { isValid: false, invalidReason: "duplicate_settlement" },
    });
    expect(await creditsOf(world.database, payer.address)).toEqual(creditedOnce(resource.id, asset));
  });

  it("for another resource it is refused on v1 in the one word v1 has for that", async () => {
    const { resource, options, payload } = await fresh();
    const other = await merchant.register();
    expect((await post(baseOf(resource), "/settle", v1Body(options, payload))).body.success).toBe(true);
    expect(await post(baseOf(other), "/settle", v1Body(await optionsOf(other), payload))).toMatchObject({
      status: 409,
      body: { success: false, errorReason: "invalid_payment", transaction: "", network: v1Network },
    });
  });
});

function domain() {
  return { name: "USDC", version: "2", chainId: 84532, verifyingContract: usdc };
}

describe("a refusal on v1", () => {
  interface Case {
    readonly name: string;
    readonly reason: string;
    readonly funds?: bigint;
    readonly terms?: Partial<Terms>;
    readonly change?: (body: ReturnType<typeof v1Body>) => unknown;
    readonly before?: (payer: Payer) => Promise<void>;
    readonly after?: (payer: Payer) => Promise<void>;
  }
  const stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const inEnvelope = (change: object) => (body: ReturnType<typeof v1Body>) => ({
    ...body,
    paymentPayload: { ...body.paymentPayload, ...change },
  });
  const inRequirements = (change: object) => (body: ReturnType<typeof v1Body>) => ({
    ...body,
    paymentRequirements: { ...body.paymentRequirements, ...change },
  });

  const cases: readonly Case[] = [
    { name: "a payer without money", reason: "insufficient_funds", funds: 0n },
    {
      name: "a signature of another domain",
      reason: "invalid_exact_evm_payload_signature",
      terms: { domain: { ...domain(), name: "USD Coin" } },
    },
    {
      name: "another recipient",
      reason: "invalid_exact_evm_payload_recipient_mismatch",
      terms: { to: stranger },
    },
    {
      name: "an expired authorization",
      reason: "invalid_exact_evm_payload_authorization_valid_before",
      terms: { validBefore: 1_700_000_000n },
    },
    {
      name: "one that is not valid yet",
      reason: "invalid_exact_evm_payload_authorization_valid_after",
      terms: { validAfter: 3_000_000_000n, validBefore: 4_000_000_000n },
    },
    {
      name: "a value that is not the price",
      reason: "invalid_exact_evm_payload_authorization_value",
      terms: { value: 9_999n },
    },
    {
      name: "a paused token",
      reason: "invalid_transaction_state",
      before: () => world.dev.administer("pause"),
      after: () => world.dev.administer("unpause"),
    },
    {
      name: "a blocked payer",
      reason: "invalid_transaction_state",
      before: ({ address }) => world.dev.administer("block", [address]),
    },
    { name: "a payload that is none", reason: "invalid_payload", change: inEnvelope({ payload: {} }) },
    {
      name: "requirements that are missing",
      reason: "invalid_payload",
      change: (body) => ({ ...body, paymentRequirements: undefined }),
    },
    { name: "an unknown scheme", reason: "unsupported_scheme", change: inRequirements({ scheme: "upto" }) },
    {
      name: "a network v1 knows and we do not serve",
      reason: "invalid_network",
      change: inRequirements({ network: "iotex" }),
    },
    {
      name: "an envelope of another network",
      reason: "invalid_payment",
      change: inEnvelope({ network: "base" }),
    },
    { name: "an unknown asset", reason: "invalid_payment", change: inRequirements({ asset: stranger }) },
    {
      name: "an x402Version beside the payload's",
      reason: "invalid_payment",
      change: (body) => ({ ...body, x402Version: 2 }),
    },
  ];

  it.each(cases)("$name: $reason", async ({ reason, funds, terms, change, before, after }) => {
    const resource = await merchant.register();
    const options = await optionsOf(resource);
    const payer = await newPayer(world.dev, funds ?? 1_000_000n);
    const payload = await signedBy(payer, {
      domain: domain(),
      to: options.v2.payTo,
      value: 10_000n,
      ...terms,
    });
    const body = v1Body(options, payload);
    const sent = change ? change(body) : body;
    await before?.(payer);
    const untouched = await footprint(world.database);
    const verified = await post(baseOf(resource), "/verify", sent);
    const settled = await post(baseOf(resource), "/settle", sent);
    await after?.(payer);
    expect(verified).toMatchObject({ status: 200, body: { isValid: false, invalidReason: reason } });
    expect(settled).toMatchObject({
      status: 200,
      body: { success: false, errorReason: reason, transaction: "" },
    });
    expect(await footprint(world.database)).toEqual(untouched);
  });
});

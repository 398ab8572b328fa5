/** A merchant that takes some rails only, on a real chain: what payers and agents are offered, and what goes on. */
import { beforeEach, describe, expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import { newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { issued } from "../invoice/bills.ts";

const world = sharedWorld();
let seller: Seller;
beforeEach(async () => {
  seller = await newSeller(world);
});

const take = (...assets: readonly string[]) =>
  seller.must("PATCH", "/v1/merchant", { rails: assets.map((asset) => ({ chain: "local", asset })) });
const refused = { status: 422, body: { code: "rail_unsupported", errors: [{ pointer: "/payment/asset" }] } };
const confirmPath = (id: string) => `/v1/payment-intents/${id}/confirm`;

describe("a payer", () => {
  it("confirms on a rail that is taken only; without a word it is one of these", async () => {
    const { id } = await seller.intent();
    await take("USDG");
    const usdc = { payment: { asset: "USDC" } };
    expect(await seller.ask("POST", confirmPath(id), usdc)).toMatchObject(refused);
    expect(await seller.confirm(id)).toMatchObject({ deposit: { asset: "USDG" } });
  });

  it("pays an order to its end, though its rail is taken no more, and switches to one that is", async () => {
    const [paid, switched] = [await seller.asked(), await seller.asked()];
    await take("USDG");
    await sendTo(world, paid.deposit.address, 10_000_000n);
    await seller.reaches(paid.paymentIntent.id, "settled");
    const { id } = switched.paymentIntent;
    const page = await fetch(`${world.baseUrl}/checkout/${id}?change=1`, {
      headers: { Accept: "text/html" },
    });
    const offered = [...(await page.text()).matchAll(/name="asset" value="(\w+)"/g)].map(
      ([, asset]) => asset,
    );
    expect(new Set(offered)).toEqual(new Set(["USDG"]));
  });

  it("of an invoice is refused on a rail that is not taken", async () => {
    const { id } = await issued(seller);
    await take("USDG");
    const answer = await fetch(`${world.baseUrl}/v1/invoices/${id}/checkout`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": id },
      body: JSON.stringify({ payment: { asset: "USDC" } }),
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject(refused);
  });
});

describe("an agent", () => {
  /** The tokens that a 402 asks for; none where nothing can be signed. */
  async function asked(path: string): Promise<readonly string[]> {
    const header = (await fetch(`${world.baseUrl}${path}`)).headers.get("PAYMENT-REQUIRED");
    if (header === null) return [];
    const { accepts } = JSON.parse(Buffer.from(header, "base64").toString());
    return accepts.map(({ extra }: { extra: { name: string } }) => extra.name).sort();
  }

  it("is offered links, invoices, intents and resources anew when the setting changes", async () => {
    const { id: linkId } = await seller.must("POST", "/v1/payment-links", {
      kind: "fixed",
      amount: { amount: "1", asset: "USD" },
    });
    const { id: resourceId } = await seller.register();
    const paths = [
      ...[linkId, (await issued(seller)).id, (await seller.intent()).id].map((id) => `/x402/payables/${id}`),
      `/x402/resources/${resourceId}/payment-required`,
    ];
    const all = await Promise.all(paths.map(asked));
    expect(all.map(({ length }) => length)).toEqual([2, 2, 2, 2]);
    await take("USDG");
    for (const path of paths)
      await until(async () => (await asked(path)).length === 1, `${path} asks for one`);
    const [one = []] = await Promise.all(paths.map(asked));
    await take("USDC");
    for (const path of paths)
      await until(async () => {
        const now = await asked(path);
        return now.length === 1 && now[0] !== one[0];
      }, `${path} asks for the other`);
    await take();
    for (const path of paths)
      await until(async () => (await asked(path)).length === 2, `${path} asks for both`);
  });

  it("is asked for another token of an invoice at a rate than the one that it was told before", async () => {
    const pounds = { unitPrice: { amount: "8.00", asset: "GBP" }, name: "Tea" };
    const path = `/x402/payables/${(await issued(seller, { currency: "GBP", lines: [pounds] })).id}`;
    const [before] = await asked(path);
    await take("USDG");
    const [after] = await asked(path);
    expect([typeof before, typeof after, after === before]).toEqual(["string", "string", false]);
  });

  it("is asked for another token of a link at a rate, once the one that it was told is taken no more", async () => {
    const { id } = await seller.must("POST", "/v1/payment-links", {
      ...{ kind: "fixed", amount: { amount: "1", asset: "GBP" }, maxPayments: 2 },
    });
    const path = `/x402/payables/${id}`;
    const before = await asked(path);
    expect([before.length, await asked(path)]).toEqual([1, before]);
    await take("USDG");
    const after = await asked(path);
    expect([after.length, after[0] === before[0]]).toEqual([1, false]);
  });

  it("finds and is offered a link at a rate, where no rail at parity is taken", async () => {
    await take("EURC");
    const { id } = await seller.must("POST", "/v1/payment-links", {
      kind: "fixed",
      amount: { amount: "1", asset: "USD" },
    });
    expect(await asked(`/x402/payables/${id}`)).toHaveLength(1);
    await seller.must("POST", `/v1/payment-links/${id}/list`);
    const index = (await (await fetch(`${world.baseUrl}/x402/payables?limit=100`)).json()) as {
      readonly items: readonly { readonly resource: string }[];
    };
    expect(index.items.map(({ resource }) => resource)).toContain(`${world.baseUrl}/x402/payables/${id}`);
  });
});

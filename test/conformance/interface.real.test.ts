/** The interface as a contract, against live answers: every field of its shapes is there, under its type, and its rules
 *  hold. Source: interface §2 to §9. */
import { describe, expect, it } from "vitest";
import { sharedWorld } from "../support/house.ts";
import { sendTo, sharedSeller } from "../support/payments.ts";
import { answerProblems } from "./interface/check.ts";
import {
  cartCheckout,
  invoice,
  linkRail,
  paymentIntent,
  paymentLink,
  position,
  product,
  quotes,
  refund,
  resource,
  subscription,
  subscriptionRead,
} from "./interface/shapes.ts";

const world = sharedWorld();
const seller = sharedSeller(world);

const asked = { amount: { amount: "10.00", asset: "USD" }, metadata: { order: "1001" } };

describe("shapes of live answers", () => {
  it("PaymentIntent, before and after it is confirmed", async () => {
    const made = await seller.intent(asked);
    expect(answerProblems(made, paymentIntent)).toEqual([]);
    expect(made).toMatchObject({ id: expect.stringMatching(/^pi_/), metadata: { order: "1001" } });
    await seller.confirm(made.id);
    const read = await seller.must("GET", `/v1/payment-intents/${made.id}`);
    expect(answerProblems(read, paymentIntent)).toEqual([]);
    expect(read.clearingTransactionId).toMatch(/^clr_/);
  });

  it("a position: intent, clearing, deposit with its entries, and timeline, by pi_ and by clr_", async () => {
    const confirmed = await seller.asked(asked);
    expect(answerProblems(confirmed, position)).toEqual([]);
    await sendTo(world, confirmed.deposit.address, 10_000_000n);
    const settled = await seller.reaches(confirmed.paymentIntent.id, "settled");
    expect(answerProblems(settled, position)).toEqual([]);
    expect(settled.deposit.deposits).toHaveLength(1);
    expect(await seller.read(settled.clearing.id)).toEqual(await seller.read(settled.paymentIntent.id));
  });

  it("Refund, alone and in its list", async () => {
    const confirmed = await seller.asked(asked);
    const { id } = confirmed.paymentIntent;
    await sendTo(world, confirmed.deposit.address, 10_000_000n);
    await seller.reaches(id, "settled");
    const made = await seller.must("POST", `/v1/payments/${id}/refunds`);
    expect(answerProblems(made, refund)).toEqual([]);
    expect(made).toMatchObject({ paymentIntentId: id, amount: { amount: "10.000000", asset: "USDC" } });
    const listed = await seller.must("GET", `/v1/payments/${id}/refunds`);
    expect(listed.map((each: { id: string }) => each.id)).toEqual([made.id]);
  });

  it("Invoice, as its draft, issued, changed, listed and void", async () => {
    const lines = [{ name: "Design", unitPrice: asked.amount, quantity: 2 }];
    const body = { buyer: { name: "Ada" }, currency: "USD", lines };
    const made = await seller.must("POST", "/v1/invoices", body);
    expect(answerProblems(made, invoice)).toEqual([]);
    const path = `/v1/invoices/${made.id}`;
    for (const word of ["issue", "list", "unlist"])
      expect(answerProblems(await seller.must("POST", `${path}/${word}`), invoice)).toEqual([]);
    const changed = await seller.must("PATCH", path, { notes: "Thank you" });
    expect(answerProblems(changed, invoice)).toEqual([]);
    expect(changed).toMatchObject({ sequence: 1, notes: "Thank you", total: { amount: "20.00" } });
    const gone = await seller.must("POST", `${path}/void`);
    expect(answerProblems(gone, invoice)).toEqual([]);
    expect(gone.voidedAt).not.toBeNull();
  });

  it("Subscription, in its list, and with its cycles", async () => {
    const made = await seller.must("POST", "/v1/subscriptions", {
      customer: { name: "Ada", email: "ada@example.com" },
      description: "Weekly report",
      amount: asked.amount,
      interval: "week",
    });
    expect(answerProblems(made, subscription)).toEqual([]);
    expect(made).toMatchObject({ interval: "week", state: "active", billedCycles: 1 });
    const [listed] = await seller.must("GET", "/v1/subscriptions");
    expect(answerProblems(listed, subscription)).toEqual([]);
    const read = await seller.must("GET", `/v1/subscriptions/${made.id}`);
    expect(answerProblems(read, subscriptionRead)).toEqual([]);
    expect(read.cycles).toHaveLength(1);
    for (const word of ["pause", "resume", "cancel"]) {
      const answer = await seller.must("POST", `/v1/subscriptions/${made.id}/${word}`);
      expect(answerProblems(answer, subscription)).toEqual([]);
    }
    const { subscription: ended } = await seller.must("GET", `/v1/subscriptions/${made.id}`);
    expect(ended.cancelledAt).not.toBeNull();
  });

  it("a quote, with a line that is not available", async () => {
    const answer = await seller.must("POST", "/v1/quotes", {
      amount: asked.amount,
      assets: ["USDC", "NONE"],
    });
    expect(answerProblems(answer, quotes)).toEqual([]);
    expect(answer.quotes.map(({ available }: { available: boolean }) => available)).toEqual([true, false]);
  });

  it("Product, and the checkout of a cart of it", async () => {
    const prices = [{ amount: "4.00", asset: "USD" }];
    const input = { merchantId: seller.id, sku: "tea", name: "Tea", prices };
    const tea = await seller.must("POST", "/v1/catalog/products", input);
    expect(answerProblems(tea, product)).toEqual([]);
    expect(await seller.must("GET", `/v1/catalog/products?merchantId=${seller.id}`)).toEqual([tea]);
    const merchant = { id: seller.id, name: "Shop", city: "Porto", countryCode: "PT" };
    const lines = [{ productId: tea.id, quantity: 2 }];
    const made = await seller.must("POST", "/v1/carts/checkout", { merchant, currency: "USD", lines });
    expect(answerProblems(made, cartCheckout)).toEqual([]);
    expect(made).toMatchObject({
      paymentIntent: { source: "cart", amount: { amount: "8.00" } },
      url: `${world.baseUrl}/checkout/${made.paymentIntent.id}`,
    });
  });

  it("PaymentLink, its rails and its checkout", async () => {
    const merchant = { id: seller.id, name: "Shop", city: "Porto", countryCode: "PT" };
    const made = await seller.must("POST", "/v1/payment-links", {
      ...{ kind: "fixed", merchant, amount: asked.amount },
    });
    expect(answerProblems(made, paymentLink)).toEqual([]);
    const path = `/v1/payment-links/${made.id}`;
    for (const [action, listed] of [
      ["list", true],
      ["unlist", false],
    ] as const) {
      const answer = await seller.must("POST", `${path}/${action}`);
      expect(answerProblems(answer, paymentLink)).toEqual([]);
      expect(answer.listed).toBe(listed);
    }
    const rails = (await (await fetch(`${world.baseUrl}${path}/rails`)).json()) as object[];
    expect(rails.length).toBeGreaterThan(0);
    for (const rail of rails) expect(answerProblems(rail, linkRail)).toEqual([]);
    const headers = { "Idempotency-Key": "payer-1" };
    const checkout = await fetch(`${world.baseUrl}${path}/checkout`, { method: "POST", headers });
    const intent = await checkout.json();
    expect([checkout.status, answerProblems(intent, paymentIntent)]).toEqual([201, []]);
    expect(intent).toMatchObject({ source: "payment-link", metadata: { paymentLinkId: made.id } });
  });

  it("x402 resources", async () => {
    const made = await seller.register();
    expect(answerProblems(made, resource)).toEqual([]);
    const { resources } = await seller.must("GET", "/v1/x402/resources");
    expect(answerProblems(resources[0], resource)).toEqual([]);
  });
});

describe("rules", () => {
  it("§4.3, §7: the same key and body gives the original intent, another body is 409", async () => {
    const headers = { "Idempotency-Key": "one-write" };
    const first = await seller.ask("POST", "/v1/payment-intents", asked, headers);
    const again = await seller.ask("POST", "/v1/payment-intents", asked, headers);
    expect(again.body).toEqual(first.body);
    const other = { ...asked, merchantReference: "another" };
    expect((await seller.ask("POST", "/v1/payment-intents", other, headers)).status).toBe(409);
  });

  it("§3: confirming what is clearing answers where it stands and starts nothing", async () => {
    const first = await seller.asked(asked);
    const again = await seller.confirm(first.paymentIntent.id);
    expect(again.clearing.id).toBe(first.clearing.id);
    expect(again.timeline).toEqual(first.timeline);
  });

  it("§7: a refund's repeated key gives the refund already made", async () => {
    const confirmed = await seller.asked(asked);
    const path = `/v1/payments/${confirmed.paymentIntent.id}/refunds`;
    await sendTo(world, confirmed.deposit.address, 10_000_000n);
    await seller.reaches(confirmed.paymentIntent.id, "settled");
    const headers = { "Idempotency-Key": "one-refund" };
    const part = { amount: { amount: "1.00", asset: "USD" } };
    const first = await seller.ask("POST", path, part, headers);
    const again = await seller.ask("POST", path, part, headers);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    expect(await seller.must("GET", path)).toHaveLength(1);
  });

  it("§8: a key of 255 characters is taken, one of 256 is not", async () => {
    const withKey = (length: number) =>
      seller.ask("POST", "/v1/payment-intents", asked, { "Idempotency-Key": "k".repeat(length) });
    expect([(await withKey(255)).status, (await withKey(256)).status]).toEqual([201, 400]);
  });

  it("§9: every answer of /v1 names the revision it was served in, the current one by default", async () => {
    const { headers } = await seller.ask("GET", "/v1/payment-intents");
    expect(headers.get("Service-Version")).toBe("2026-08-11");
  });

  it("§9.6: buyer pages have no version and need no key", async () => {
    const intent = await seller.intent(asked);
    const invoice = await seller.must("POST", "/v1/invoices", {
      buyer: { name: "Ada" },
      currency: "USD",
      lines: [{ name: "Tea", unitPrice: { amount: "1.00", asset: "USD" } }],
      daysUntilDue: 7,
      issue: true,
    });
    for (const path of [`/checkout/${intent.id}`, `/invoices/${invoice.id}/view`]) {
      const headers = { Accept: "text/html", "Service-Version": "1999-01-01" };
      const page = await fetch(`${world.baseUrl}${path}`, { headers });
      expect([path, page.status, page.headers.get("Service-Version")]).toEqual([path, 200, null]);
      expect(page.headers.get("Content-Type")).toContain("text/html");
    }
  });
});

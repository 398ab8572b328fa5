/** The interface as a contract, against live answers: every field of its shapes is there, under its type, and its rules
 *  hold. Source: interface §2 to §9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld } from "../support/house.ts";
import { newSeller, type Seller, sendTo } from "../support/payments.ts";
import { answerProblems } from "./interface/check.ts";
import { paymentIntent, position, quotes, refund, resource } from "./interface/shapes.ts";

let world: Awaited<ReturnType<typeof startWorld>>;
let seller: Seller;
beforeAll(async () => {
  world = await startWorld();
  seller = await newSeller(world);
});
afterAll(() => world.stop());

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

  it("a quote, with a line that is not available", async () => {
    const answer = await seller.must("POST", "/v1/quotes", {
      amount: asked.amount,
      assets: ["USDC", "NONE"],
    });
    expect(answerProblems(answer, quotes)).toEqual([]);
    expect(answer.quotes.map(({ available }: { available: boolean }) => available)).toEqual([true, false]);
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
});

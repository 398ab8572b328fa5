/** What the whole service tells of real payments, refunds and payouts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { describedFamilies } from "../../../api/events.ts";
import { newKey } from "../../support/authorization.ts";
import { newPayer, post, sharedWorld, signPayment, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { eventOf, type Receiver, receiveWebhooks, verified } from "../../support/webhook-receiver.ts";

const world = sharedWorld();
const shop = sharedSeller(world);
let receiver: Receiver;
let secret: string;
beforeAll(async () => {
  receiver = await receiveWebhooks();
  ({ secret } = await shop.must("POST", "/v1/webhook-endpoints", { url: receiver.url, events: ["*"] }));
});
afterAll(async () => {
  await receiver.stop();
});

const objectOf = new Map(
  describedFamilies().flatMap(({ types, object }) => types.map((type) => [type, object])),
);
// biome-ignore lint/suspicious/noExplicitAny: what came off the wire
type Told = any;
const told = (id: string): Told[] =>
  receiver.got.map(eventOf).filter(({ data }) => JSON.stringify(data.object).includes(id));
const typesOf = (id: string) => told(id).map(({ type }) => type as string);
const hears = (id: string, type: string) =>
  until(async () => typesOf(id).includes(type), `${type} of ${id}; there were ${typesOf(id)}`, 30_000);

/** Everything that came is signed, has the documented shape, and a growing sequence for each thing. */
function checkAll(): void {
  for (const got of receiver.got) {
    const event = verified(got, secret) as Told;
    const parsed = objectOf.get(event.type)?.safeParse(event.data.object);
    expect([event.type, parsed?.error?.issues ?? []]).toEqual([event.type, []]);
  }
}

describe("a payment by transfer", () => {
  it("is told step by step, as reading it answers, and so are its refund and a payout", async () => {
    const position = await shop.asked({ metadata: { subscriptionId: "sub_1" } });
    const { id } = position.paymentIntent;
    const { payer } = await sendTo(world, position.deposit.address, 10_000_000n);
    await world.dev.anvil.mine(3);
    await hears(id, "payment.completed");
    expect(typesOf(id)).toEqual([
      "payment.created",
      "payment.clearing",
      "payment.funds_detected",
      "payment.funds_received",
      "payment.completed",
    ]);
    const sequences = told(id).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a: number, b: number) => a - b));
    const completed = told(id).at(-1);
    expect(completed.data.previous).toMatchObject({ status: "clearing" });
    expect(completed.data.object.paymentIntent.metadata).toEqual({ subscriptionId: "sub_1" });
    const { paymentIntent, clearing } = await shop.read(id);
    expect(completed.data.object).toMatchObject({
      paymentIntent: { ...paymentIntent, updatedAt: expect.any(String) },
      clearing: { id: clearing.id, state: "settled", transactionHash: clearing.transactionHash },
      deposit: { address: position.deposit.address, deposits: [{ status: "credited" }] },
    });
    // when a part of it is refunded, and the rest is paid out
    await world.dev.anvil.mine(3);
    const refund = await shop.must("POST", `/v1/payments/${id}/refunds`, {
      amount: { amount: "4.00", asset: "USDC" },
      ...{ destination: checksum(payer.address) },
    });
    await until(async () => {
      await world.dev.anvil.mine(2);
      return typesOf(refund.id).includes("refund.succeeded");
    }, "the refund is told of");
    expect(typesOf(refund.id)).toEqual(["refund.created", "refund.processing", "refund.succeeded"]);
    expect(told(refund.id).map(({ data }) => data.previous)).toEqual([
      null,
      { state: "pending" },
      { state: "processing" },
    ]);
    const { address } = newKey();
    await shop.must("POST", "/v1/payout-addresses", { chain: "local", address: checksum(address) });
    const payout = await shop.must("POST", "/v1/payouts", {
      ...{ amount: { amount: "1.00", asset: "USDC" }, chain: "local", destination: checksum(address) },
    });
    await until(async () => {
      await world.dev.anvil.mine(2);
      return typesOf(payout.id).includes("payout.succeeded");
    }, "the payout is told of");
    expect(typesOf(payout.id)).toEqual(["payout.created", "payout.succeeded"]);
    expect(told(payout.id).at(-1).data.object).toEqual(await shop.must("GET", `/v1/payouts/${payout.id}`));
    checkAll();
  });
});

describe("an agent's payments of a resource", () => {
  it("are told each once as completed, with the deposit that they made", async () => {
    const resource = await shop.register();
    await hears(resource.id, "x402.resource.registered");
    for (let n = 0; n < 3; n += 1) {
      const { body } = await signPayment(world.dev, await newPayer(world.dev), resource);
      await post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body);
    }
    const completed = () => told(resource.id).filter(({ type }) => type === "payment.completed");
    await until(async () => completed().length === 3, "three payments are told of");
    const [payment] = completed();
    expect(payment.data).toMatchObject({
      object: {
        paymentIntent: { status: "completed", source: "x402", executionPath: "x402" },
        clearing: { state: "settled", providerReference: expect.stringMatching(/^stl_/) },
        deposit: { amount: { amount: "0.010000" }, deposits: [{ status: "credited" }] },
      },
      previous: null,
    });
    expect(new Set(completed().map(({ data }) => data.object.paymentIntent.id)).size).toBe(3);
    checkAll();
  });
});

describe("GET /v1/events", () => {
  it("holds all that was delivered, byte for byte", async () => {
    const listed: Told[] = await shop.must("GET", "/v1/events?limit=200");
    const byId = new Map(listed.map((event) => [event.id, event]));
    expect(receiver.got.length).toBeGreaterThan(10);
    for (const { body } of receiver.got) expect(JSON.stringify(byId.get(JSON.parse(body).id))).toBe(body);
    expect(byId.size).toBe(receiver.got.length);
  });
});

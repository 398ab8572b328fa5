/** Payments of links that are paid by intents of their own, sent once more: by clients that do not say which intent they
 *  signed for, as v1's never do. The chain has a name in v1. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixedRates } from "#api";
import { systemClock } from "#kernel/system";
import { whileBlocksAreHeld } from "../../conformance/held-blocks.ts";
import { signRequired } from "../../mcp/world.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { type Answer, newPayer, startWorld, until, type World } from "../../support/house.ts";
import { newSeller, type Seller } from "../../support/payments.ts";
import { expectAtRest } from "../../support/scene.ts";

let world: World;
let seller: Seller;
beforeAll(async () => {
  const rates = fixedRates({ clock: systemClock, log: silentLog });
  world = await startWorld({ chainId: 84_532, rates, settings: { maxWaitMs: 1_500 } });
  seller = await newSeller(world);
});
afterAll(() => world.stop());

const open = { kind: "open", currency: "USD" };
const inPounds = { kind: "fixed", amount: { amount: "0.40", asset: "GBP" } };

async function newLink(body: object = open): Promise<{ id: string; url: string }> {
  const { id } = await seller.must("POST", "/v1/payment-links", body);
  return { id, url: `${world.baseUrl}/x402/payables/${id}` };
}

type Payment = Awaited<ReturnType<typeof signRequired>>;
const toHeader = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
async function visit(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function sign(url: string): Promise<Payment> {
  const required = (await visit(url)).headers.get("PAYMENT-REQUIRED") ?? "";
  const payer = await newPayer(world.dev, 5_000_000n);
  return signRequired(payer, JSON.parse(Buffer.from(required, "base64").toString()));
}

const ways: readonly [string, (payment: Payment, url: string) => Record<string, string>][] = [
  ["names no resource", ({ resource: _, ...payment }) => ({ "PAYMENT-SIGNATURE": toHeader(payment) })],
  [
    "names the link",
    (payment, url) => ({ "PAYMENT-SIGNATURE": toHeader({ ...payment, resource: { url } }) }),
  ],
  ["names its intent", (payment) => ({ "PAYMENT-SIGNATURE": toHeader(payment) })],
  [
    "is of v1",
    ({ payload }) => ({
      "X-PAYMENT": toHeader({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload }),
    }),
  ],
];

async function intentsOf(linkId: string): Promise<number> {
  const [row] = await world.database.query<{ count: string }>(
    "SELECT count(*) AS count FROM payment_link_checkout WHERE link_id = $1",
    [linkId],
  );
  return Number(row?.count);
}

describe.each(ways)("a payment of an open link that %s", (_, headersOf) => {
  it("is a duplicate when it comes again, and by its key the first answer; no new intent is made", async () => {
    const { id, url } = await newLink();
    const priced = `${url}?amount=2.50`;
    const headers = headersOf(await sign(priced), url);
    const key = { "Idempotency-Key": "a key that the first caller knows" };
    const first = await visit(priced, { ...headers, ...key });
    expect([first.status, first.body.success]).toEqual([200, true]);
    const made = await intentsOf(id);

    const again = await visit(priced, headers);
    expect([again.status, again.body.transaction]).toEqual([409, first.body.transaction]);
    expect(again.body.errorReason).toBe("duplicate_settlement");
    const replayed = await visit(priced, { ...headers, ...key });
    expect([replayed.status, replayed.body]).toEqual([200, first.body]);
    expect(replayed.headers.get("Idempotent-Replayed")).toBe("true");
    // and also when the link is no longer payable
    await seller.must("POST", `/v1/payment-links/${id}/disable`);
    expect((await visit(priced, headers)).body.errorReason).toBe("duplicate_settlement");
    expect(await intentsOf(id)).toBe(made);
  });

  it("joins the wait while its outcome is open", async () => {
    const { url } = await newLink();
    const priced = `${url}?amount=2.50`;
    const headers = headersOf(await sign(priced), url);
    const [first, again] = await whileBlocksAreHeld(world.dev, async () => [
      await visit(priced, headers),
      await visit(priced, headers),
    ]);
    expect(first.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect([again.status, again.body]).toMatchObject([
      200,
      { errorReason: "settlement_pending", extra: { paymentId: first.body.extra.paymentId } },
    ]);
    await until(async () => (await visit(priced, headers)).body.success === true, "it is told of");
    expect((await visit(priced, headers)).body.errorReason).toBe("duplicate_settlement");
  });

  it("three times at once is paid once, and no call is told that it pays for something else", async () => {
    const { url } = await newLink();
    const priced = `${url}?amount=0.75`;
    const headers = headersOf(await sign(priced), url);
    const answers = await Promise.all([1, 2, 3].map(() => visit(priced, headers)));
    const told = answers.map(({ status, body }) => [status, body.errorReason ?? null]);
    expect(told.sort()).toEqual([
      [200, null],
      [409, "duplicate_settlement"],
      [409, "duplicate_settlement"],
    ]);
    await expectAtRest(world);
  });
});

it("a payment at a rate that is locked for the visit is a duplicate when it comes again", async () => {
  const { url } = await newLink(inPounds);
  const { resource: _, ...payment } = await sign(url);
  const headers = { "PAYMENT-SIGNATURE": toHeader(payment) };
  const first = await visit(url, headers);
  expect([first.status, first.body.success]).toEqual([200, true]);
  const { status, body } = await visit(url, headers);
  expect([status, body.errorReason, body.transaction]).toEqual([
    409,
    "duplicate_settlement",
    first.body.transaction,
  ]);
});

it("what pays for one link pays for no other, and nothing of the one is told", async () => {
  const [one, two] = [await newLink(), await newLink()];
  const { resource: _, ...payment } = await sign(`${one.url}?amount=2.50`);
  const headers = { "PAYMENT-SIGNATURE": toHeader(payment) };
  expect((await visit(`${one.url}?amount=2.50`, headers)).status).toBe(200);
  const { status, body } = await visit(`${two.url}?amount=2.50`, headers);
  expect([status, body.errorReason, body.transaction]).toEqual([409, "authorization_bound_elsewhere", ""]);
  expect(JSON.stringify(body)).not.toMatch(/stl_|pi_|0x[0-9a-f]{64}/);
});

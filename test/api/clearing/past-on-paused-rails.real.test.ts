/** What was paid in a token that is paused by now is told as before, and what goes back of it is decided; the chain has a
 *  name in v1, and an explorer. */
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixedRates } from "#api";
import { checksum } from "#kernel/bytes";
import { systemClock } from "#kernel/system";
import { type Agent, newAgent, signRequired } from "../../mcp/world.ts";
import { newKey } from "../../support/authorization.ts";
import { silentLog } from "../../support/dev-chain.ts";
import {
  type Answer,
  newPayer,
  type Payer,
  post,
  startWorld,
  until,
  type World,
} from "../../support/house.ts";
import { newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { claimOf, ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { tokenChange } from "../../support/token-change.ts";
import { openSession } from "../dashboard/selling.ts";
import { held, read, refund, untilSucceeded } from "../refund/paid.ts";

const V1_NAME = "base-sepolia";
const CAIP2 = "eip155:84532";
const EXPLORER = "https://sepolia.basescan.org/tx/";
const issuer = tokenChange(systemClock);
let world: World;
let seller: Seller;
let agent: Agent;
let all: number;
beforeAll(async () => {
  const rates = fixedRates({ clock: systemClock, log: silentLog });
  const settings = { sweepPatienceSeconds: { local: 0, elsewhere: 0 } };
  world = await startWorld({
    ...{ chainId: 84_532, rates, settings },
    ...{ clock: issuer.clock, wrapChain: issuer.wrapChain },
  });
  all = offered();
  seller = await newSeller(world);
  agent = await newAgent(world.baseUrl, "auto");
});
afterAll(async () => {
  await agent?.close();
  await world?.stop();
});

const offered = () => world.house.facilitator.rails().length;
/** The other token goes on: what v1 calls by its network alone could be meant in it. */
const pauses: Readonly<Record<string, () => Promise<void>>> = {
  "its token": () =>
    issuer.change(
      (token) => token === world.dev.usdc,
      () => offered() === all - 1,
    ),
  "every token of its chain": () =>
    issuer.change(
      () => true,
      () => offered() === 0,
    ),
};
const resume = () =>
  issuer.change(
    () => false,
    () => offered() === all,
  );

type Payment = Awaited<ReturnType<typeof signRequired>>;
const toHeader = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const inV1 = ({ payload }: Payment) => ({ x402Version: 1, scheme: "exact", network: V1_NAME, payload });
async function visit(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
async function sign(url: string): Promise<Payment> {
  const required = (await visit(url)).headers.get("PAYMENT-REQUIRED") ?? "";
  const payer = await newPayer(world.dev, 20_000_000n);
  return signRequired(payer, JSON.parse(Buffer.from(required, "base64").toString()));
}
const payableUrl = (id: string) => `${world.baseUrl}/x402/payables/${id}`;

/** v1's call of settle for a resource. */
async function settleCall() {
  const { id, url } = await seller.register();
  const payment = await sign(`${world.baseUrl}/x402/resources/${id}/payment-required`);
  const { asset, payTo } = payment.accepted;
  const requirements = { scheme: "exact", network: V1_NAME, asset, payTo, resource: url };
  const body = {
    x402Version: 1,
    paymentPayload: inV1(payment),
    paymentRequirements: { ...requirements, maxAmountRequired: "10000" },
  };
  return (headers = {}) => post(world.baseUrl, `/x402/resources/${id}/settle`, body, headers);
}

/** An intent of ten dollars that was paid by a signature, for good. */
async function paidIntent(): Promise<{ readonly id: string; readonly hash: string }> {
  const { id } = await seller.intent();
  const payment = await sign(payableUrl(id));
  const { body } = await visit(payableUrl(id), { "PAYMENT-SIGNATURE": toHeader(payment) });
  await seller.reaches(id, "settled");
  await expectAtRest(world);
  return { id, hash: body.transaction };
}

/** One that was paid by a transfer: who sent it may be anybody. */
async function paidByTransfer(payer: Payer): Promise<{ readonly id: string }> {
  const { paymentIntent, deposit } = await seller.asked({ payment: { chain: "local-84532", asset: "USDC" } });
  const { id } = paymentIntent;
  await sendTo(world, deposit.address, 10_000_000n, { payer });
  await until(async () => {
    await world.dev.anvil.mine();
    return (await seller.read(id)).clearing.state === "settled";
  }, "it is settled");
  await expectAtRest(world);
  return { id };
}

interface Link {
  readonly id: string;
}
const links: readonly [string, object, string][] = [
  ["a link", { kind: "fixed", amount: { amount: "0.50", asset: "USD" } }, ""],
  ["an open link", { kind: "open", currency: "USD" }, "?amount=2.50"],
  ["a link in pounds", { kind: "fixed", amount: { amount: "0.40", asset: "GBP" } }, ""],
];
const versions: readonly [string, (payment: Payment) => Record<string, string>][] = [
  ["v1", (payment) => ({ "X-PAYMENT": toHeader(inV1(payment)) })],
  ["v2", (payment) => ({ "PAYMENT-SIGNATURE": toHeader(payment) })],
  ["v2 and names no resource", ({ resource: _, ...rest }) => ({ "PAYMENT-SIGNATURE": toHeader(rest) })],
];

describe.each(Object.keys(pauses))("while %s is paused", (which) => {
  const whilePaused = async (work: () => Promise<void>) => {
    await pauses[which]?.();
    try {
      await work();
    } finally {
      await resume();
    }
  };

  it("a settle of v1 that comes again is answered as before, and a new one is refused and not claimed", async () => {
    const key = { "Idempotency-Key": `settle while ${which}` };
    const [call, late] = [await settleCall(), await settleCall()];
    const first = await call(key);
    expect(first.body).toMatchObject({ success: true, network: V1_NAME });
    await whilePaused(async () => {
      expect((await call(key)).body).toEqual({
        ...first.body,
        extra: { ...first.body.extra, replayed: true },
      });
      expect((await call()).body).toMatchObject({
        errorReason: "duplicate_settlement",
        network: V1_NAME,
        transaction: first.body.transaction,
      });
      expect((await late()).body).toMatchObject({ success: false, errorReason: "invalid_transaction_state" });
    });
  });

  const cases = versions.flatMap(([version, headersOf]) =>
    links.map(([what, body, query]) => ({ version, headersOf, what, body, query })),
  );
  it.each(cases)("what $version pays for $what is answered as before", async ({ headersOf, body, query }) => {
    const { id }: Link = await seller.must("POST", "/v1/payment-links", body);
    const url = `${payableUrl(id)}${query}`;
    const headers = headersOf(await sign(url));
    const key = { "Idempotency-Key": `link ${id}` };
    const first = await visit(url, { ...headers, ...key });
    expect([first.status, first.body]).toMatchObject([200, { success: true, amount: { symbol: "USDC" } }]);
    await whilePaused(async () => {
      const again = await visit(url, { ...headers, ...key });
      expect([again.status, again.body]).toEqual([200, first.body]);
      const unknown = await visit(url, headers);
      expect([unknown.status, unknown.body]).toMatchObject([
        409,
        { errorReason: "duplicate_settlement", transaction: first.body.transaction },
      ]);
    });
  });

  it.each(versions)(
    "what is paid for an intent in %s is, and a new payment is refused",
    async (_, headersOf) => {
      const [one, two] = [await seller.intent(), await seller.intent()];
      const [headers, signed] = [headersOf(await sign(payableUrl(one.id))), await sign(payableUrl(two.id))];
      const key = { "Idempotency-Key": `intent ${one.id}` };
      const first = await visit(payableUrl(one.id), { ...headers, ...key });
      expect(first.body).toMatchObject({ success: true, amount: { symbol: "USDC" } });
      await whilePaused(async () => {
        expect((await visit(payableUrl(one.id), { ...headers, ...key })).body).toEqual(first.body);
        const { status } = await visit(payableUrl(two.id), headersOf(signed));
        expect(status).toBe(which === "its token" ? 402 : 422);
        expect(await claimOf(world.database, signed.payload.authorization.nonce)).toBeNull();
      });
    },
  );

  it("agents are told where a payment stands, by the symbol of its token too, with its amount", async () => {
    const { id } = await seller.intent();
    const payment = await sign(payableUrl(id));
    await visit(payableUrl(id), { "PAYMENT-SIGNATURE": toHeader(payment) });
    const { from: payer, nonce } = payment.payload.authorization;
    await whilePaused(async () => {
      for (const asset of ["USDC", payment.accepted.asset]) {
        const asked = { network: CAIP2, asset, payer, nonce };
        expect((await agent.call("get_payment_status", asked)).structuredContent).toMatchObject({
          status: expect.stringMatching(/^settled|final$/),
          amount: { decimal: "10.00", symbol: "USDC" },
        });
      }
    });
  });

  it("payers and merchants see where it was paid", async () => {
    const { id, hash } = await paidIntent();
    const made = await refund(seller, id, { amount: { amount: "1.00", asset: "USDC" } });
    await untilSucceeded(world, seller, made.body.id);
    const desk = await openSession(world.baseUrl, seller.secretKey);
    const page = async (path: string) =>
      (await fetch(`${world.baseUrl}/checkout/${path}`, { headers: { Accept: "text/html" } })).text();
    await whilePaused(async () => {
      const at = `${EXPLORER}${hash}`;
      const checkout = await page(id);
      expect(checkout).toContain(at);
      expect(checkout).toContain("Paid with");
      expect(await page(`${id}/refund`)).toContain(EXPLORER);
      expect((await desk.get(`payments/${id}`)).text).toContain(at);
      const listed = await seller.must("GET", `/v1/payments?chain=${CAIP2}&state=settled`);
      expect(listed).toContainEqual(
        expect.objectContaining({ paymentIntent: expect.objectContaining({ id }) }),
      );
    });
  });

  it("its payer claims a refund, which leaves once the token is taken again", async () => {
    const payer = await newPayer(world.dev, 0n);
    const { id } = await paidByTransfer(payer);
    // Nobody can tell it from an exchange's: it has to say where the money goes.
    await world.dev.anvil.rpc("anvil_setCode", [payer.address, `0xef0100${"00".repeat(20)}`]);
    const made = (await refund(seller, id)).body;
    expect(made).toMatchObject({ state: "requires-destination" });
    const destination = checksum(newKey().address);
    const queued = () =>
      world.database.query("SELECT signed_at FROM outgoing WHERE id = $1 AND cancelled_at IS NULL", [
        made.id,
      ]);
    await whilePaused(async () => {
      const { status, body } = await visit(
        `${world.baseUrl}/checkout/${id}/refund/message?destination=${destination}`,
      );
      expect([status, body.message]).toEqual([200, expect.stringContaining(destination)]);
      const signature = await privateKeyToAccount(payer.key).signMessage({ message: body.message });
      const claim = { account: payer.address, destination, nonce: body.nonce, signature };
      const taken = await fetch(`${world.baseUrl}/checkout/${id}/refund`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams(claim),
      });
      expect(taken.headers.get("location")).toBe(`/checkout/${id}/refund`);
      expect(await read(seller, made.id)).toMatchObject({ state: "pending", destination });
      await world.dev.anvil.mine();
      expect(await queued()).toEqual([{ signed_at: null }]);
    });
    await untilSucceeded(world, seller, made.id);
    expect(await held(world, destination)).toBe(10_000_000n);
    expect(await ledgerOf(world.database, made.id)).toEqual([
      "single net merchant → merchant 9950000",
      "single fee fees → merchant 50000",
      "pending out merchant → treasury 10000000",
      "post out merchant → treasury 10000000",
    ]);
  });

  it("a refund that its merchant makes waits too", async () => {
    const payment = await paidIntent();
    let id = "";
    await whilePaused(async () => {
      const made = await refund(seller, payment.id, { amount: { amount: "4.00", asset: "USDC" } });
      expect([made.status, made.body]).toMatchObject([201, { state: "pending" }]);
      id = made.body.id;
    });
    await untilSucceeded(world, seller, id);
    await until(async () => (await ledgerOf(world.database, id)).length > 0, "it is booked");
  });
});

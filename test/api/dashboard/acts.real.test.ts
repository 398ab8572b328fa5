/** What a merchant decides about payments at the dashboard, and what the overview says of them. */
import { afterEach, expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  isIntentAwaited,
  movableClock,
  type Seller,
  sendTo,
  sharedSeller,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { untilSucceeded } from "../refund/paid.ts";
import { openSession } from "./room.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);
// Before a test moves the clock: how often finality is looked for depends on the age of a payment.
afterEach(() => expectAtRest(world));

const visit = () => openSession((path, init) => fetch(`${world.baseUrl}${path}`, init), seller.secretKey);
type Session = Awaited<ReturnType<typeof visit>>;

async function act({ post, token }: Session, id: string, action: string, fields = {}) {
  const csrf = await token();
  return post(`/dashboard/payments/${id}/${action}`, { csrf, once: `${action} ${id}`, ...fields });
}
const done = (id: string, notice: string) => ({
  status: 303,
  leadsTo: `/dashboard/payments/${id}?notice=${notice}`,
});

/** A payment of 10 dollars by a plain transfer, settled. */
async function settledPayment(asked: Parameters<Seller["asked"]>[0] = {}) {
  const { paymentIntent, deposit } = await seller.asked(asked);
  const { payer } = await sendTo(world, deposit.address, 10_000_000n);
  await seller.reaches(paymentIntent.id, "settled");
  return { id: paymentIntent.id as string, payer };
}

it("the overview shows who has just come the first steps; then what was completed, on the day it was", async () => {
  const session = await visit();
  const { text } = await session.get("/dashboard");
  for (const step of ["Make a payment link", "Register a resource", "Add a webhook"])
    expect(text).toContain(step);
  const { id } = await settledPayment();
  const [row] = await world.database.query<{ day: string }>(
    `UPDATE payment_intent SET completed_at = completed_at - interval '3 days' WHERE id = $1
     RETURNING to_char(completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`,
    [id],
  );
  const later = (await session.get("/dashboard")).text;
  expect(later).not.toContain("Make a payment link");
  expect(later).toContain(`<th scope="row">${row?.day}</th><td>$10.00</td>`);
  expect(later).toContain("100 %");
});

it("a signed proof is a file to keep; of a payment that is not completed there is none", async () => {
  const session = await visit();
  const { paymentIntent, deposit } = await seller.asked();
  const path = `/dashboard/payments/${paymentIntent.id}/proof.json`;
  expect((await session.get(path)).status).toBe(409);
  await sendTo(world, deposit.address, 10_000_000n);
  await seller.reaches(paymentIntent.id, "settled");
  const { status, text } = await session.get(path);
  expect([status, JSON.parse(text)]).toEqual([
    200,
    await seller.must("GET", `/v1/payments/${paymentIntent.id}/proof.json`),
  ]);
});

it("what expired is retried once its money has come", async () => {
  const session = await visit();
  const asked = await seller.asked();
  const { id } = asked.paymentIntent;
  clock.forward(32 * MINUTE);
  await seller.reaches(id, "expired");
  const early = await act(session, id, "retry", { once: "too early" });
  expect([early.status, early.text.includes('role="alert"')]).toEqual([409, true]);
  const retried = await heldBack(world, { merchantId: seller.id, id }, async (letGo) => {
    await sendTo(world, asked.deposit.address, 10_000_000n);
    const arrivals = () =>
      world.house.facilitator.deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
    await until(async () => (await arrivals()).length === 1, "it is seen");
    const answer = act(session, id, "retry");
    await until(() => isIntentAwaited(world), "the retry waits for its turn");
    letGo();
    return answer;
  });
  expect(retried).toMatchObject(done(id, "retried"));
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
    "single clearing deposit → clearing 10000000",
    "pending net clearing → available 9950000",
    "pending fee clearing → fees 50000",
  ]);
});

it("what nobody has paid is cancelled, and leaves nothing in the books", async () => {
  const session = await visit();
  const { paymentIntent, clearing } = await seller.asked();
  expect(await act(session, paymentIntent.id, "cancel")).toMatchObject(done(paymentIntent.id, "cancelled"));
  expect((await seller.read(paymentIntent.id)).paymentIntent.status).toBe("cancelled");
  expect(await ledgerOf(world.database, clearing.id)).toEqual([]);
});

it("what was given back stands so, with what is left of it, and nothing is offered once all of it was", async () => {
  const session = await visit();
  const { id, payer } = await settledPayment();
  await expectAtRest(world);
  const badges = async () => {
    const list = (await session.get("/dashboard/payments")).text;
    const [, row = ""] = new RegExp(`payments/${id}"(.*?)</tr>`, "s").exec(list) ?? [];
    const { text } = await session.get(`/dashboard/payments/${id}`);
    const [, heading = ""] = /<h1>(.*?)<\/h1>/s.exec(text) ?? [];
    const badge = (html: string) => /class="badge[^>]*>([^<]+)</.exec(html)?.[1];
    return {
      list: badge(row),
      page: badge(heading),
      isOffered: text.includes("<summary>Refund</summary>"),
      text,
    };
  };
  const refund = async (once: string, amount: string) => {
    const fields = { once, "amount.amount": amount, "amount.asset": "USDC", destination: payer.address };
    expect(await act(session, id, "refunds", fields)).toMatchObject(done(id, "refunded"));
  };
  const arrived = async () => {
    for (const { id: each } of await seller.must("GET", `/v1/payments/${id}/refunds`))
      await untilSucceeded(world, seller, each);
  };
  expect(await badges()).toMatchObject({ list: "completed", page: "completed", isOffered: true });
  await refund(`a part of ${id}`, "2.5");
  expect(["refund under way", "partly refunded"]).toContain((await badges()).page);
  await arrived();
  const part = await badges();
  expect(part).toMatchObject({ list: "partly refunded", page: "partly refunded", isOffered: true });
  expect(part.text).toMatch(/Still refundable<\/dt><dd><span class="money" title="7.500000 USDC"/);
  expect(part.text).toContain("all that can still be refunded, 7.50 USDC");
  await refund(`the rest of ${id}`, "");
  await arrived();
  expect(await badges()).toMatchObject({ list: "refunded", page: "refunded", isOffered: false });
});

it("a refund says that it waits for an address, takes one that is one, and is taken back while it is not signed", async () => {
  const session = await visit();
  const { id, payer } = await settledPayment();
  await expectAtRest(world);
  // a wallet with code may be an exchange's: nobody can tell whom to pay
  const setCode = (code: string) => world.dev.anvil.rpc("anvil_setCode", [payer.address, code]);
  await setCode(`0xef0100${"00".repeat(20)}`);
  const part = { "amount.amount": "2.5", "amount.asset": "USDC" };
  const make = (once: string) => act(session, id, "refunds", { ...part, once: `${once} ${id}` });
  expect(await make("first")).toMatchObject(done(id, "undirected"));
  expect(await make("second")).toMatchObject(done(id, "undirected"));
  await setCode("0x");
  const [second, first] = await seller.must("GET", `/v1/payments/${id}/refunds`);
  const { text } = await session.get(`/dashboard/payments/${id}`);
  expect(text).toContain(`href="#to-${second.id}"`);
  const addressFields = (html: string) => html.match(/<input[^>]* name="address"/g)?.length;
  expect(addressFields(text)).toBe(1);

  const bad = { once: "no address", address: "0x12" };
  const refused = await act(session, id, `refunds/${first.id}/destination`, bad);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('aria-invalid="true"');
  // what was asked about is what comes back, and no other: a label leads to one field
  expect(addressFields(refused.text)).toBe(1);
  expect(refused.text).toContain(`id="to-${first.id}"`);
  const to = { address: payer.address };
  expect(await act(session, id, `refunds/${first.id}/destination`, to)).toMatchObject(done(id, "directed"));
  expect(await act(session, id, `refunds/${second.id}/cancel`)).toMatchObject(done(id, "taken-back"));
  await untilSucceeded(world, seller, first.id);
  const { providerReference: hash } = await seller.must("GET", `/v1/refunds/${first.id}`);
  expect(await seller.must("GET", `/v1/refunds/${second.id}`)).toMatchObject({ state: "cancelled" });
  const late = await act(session, id, `refunds/${first.id}/cancel`);
  expect([late.status, late.text.includes('role="alert"')]).toEqual([409, true]);
  expect(await world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")).toBe(2_500_000n);
  expect(await ledgerOf(world.database, second.id)).toEqual([]);
  expect(await ledgerOf(world.database, first.id)).toEqual([
    "single net merchant → merchant 2487500",
    "single fee fees → merchant 12500",
    "pending out merchant → treasury 2500000",
    "post out merchant → treasury 2500000",
  ]);
  const after = (await session.get(`/dashboard/payments/${id}`)).text;
  expect(after).toContain(String(hash).slice(0, 10));
  expect(after).not.toContain("A refund waits for an address");
});

it("a refund leads to its payment, wherever its id stands; so does its customer's email", async () => {
  const session = await visit();
  const { id, payer } = await settledPayment({ customer: { email: "grace@buyer.example" } });
  const refund = await seller.must("POST", `/v1/payments/${id}/refunds`, { destination: payer.address });
  await untilSucceeded(world, seller, refund.id);
  const at = `/dashboard/payments/${refund.id}`;
  expect(await session.get(`/dashboard/payments?find=${refund.id}`)).toMatchObject({ leadsTo: at });
  expect(await session.get(at)).toMatchObject({ status: 303, leadsTo: `/dashboard/payments/${id}` });
  for (const page of ["ledger", "events"])
    expect((await session.get(`/dashboard/${page}`)).text).toContain(`href="${at}"`);
  expect((await session.get("/dashboard/payments?find=Grace@buyer.example")).text).toContain(id);
});

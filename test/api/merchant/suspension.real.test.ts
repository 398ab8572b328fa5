/** A merchant that the operator has suspended: it asks for no money, is paid none, and takes none out. */
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { resumeMerchant, suspendMerchant } from "#api";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { payable } from "../../../facilitator/payable/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { waitingForLocks } from "../../support/records.ts";
import { type Answer, type Caller, newCaller, operatorOf, read, type Writer, writer } from "../caller.ts";
import { type Ask, openSession } from "../dashboard/room.ts";
import { fakeFacilitator, rail, world } from "../world.ts";

const database = sharedDatabase();
const REASON = "Three buyers say that nothing was sent.";
/** How long a key is known by what it was. */
const KEY_CACHE_MS = 5_000;

let time: ManualClock;
let house: ReturnType<typeof world>;
let shop: Caller;
let count = 0;
beforeEach(async () => {
  time = manualClock();
  const facilitator = fakeFacilitator({
    ...{ project: projectPayable, rails: () => [rail], refusedRails: () => [] },
    offer: async () => ({ payable: { merchantId: shop.merchantId } }) as never,
  });
  house = world({ db: database.db, time, facilitator });
  shop = await newCaller(database.db);
});

const call: Writer["call"] = (...asked) => writer(house.app, shop).call(...asked);
const must: Writer["must"] = (...asked) => writer(house.app, shop).must(...asked);
/** What anybody sees who has no key. */
const visit = async (path: string, init?: RequestInit) => read(await house.app.request(path, init));
const codeOf = ({ status, body }: Answer) => [status, body.code];
const SUSPENDED = [403, "merchant_suspended"];

const operator = () => operatorOf(database.db, time);
async function suspend(reason = REASON): Promise<void> {
  await suspendMerchant(operator(), { merchantId: shop.merchantId, reason });
  await heard();
}
async function resume(): Promise<boolean> {
  const was = await resumeMerchant(operator(), shop.merchantId);
  await heard();
  return was;
}
/** Everybody has heard of it, and no key is known by what it was. */
async function heard(): Promise<void> {
  const [fact] = await database.query<{ payload: object }>(
    "SELECT payload FROM outbox WHERE merchant_id = $1 AND type = 'merchant.updated' ORDER BY sequence DESC LIMIT 1",
    [shop.merchantId],
  );
  const about = { ...fact, merchantId: shop.merchantId, subject: shop.merchantId };
  for (const job of house.jobs.filter(({ hears }) => hears?.includes("merchant.updated")))
    await job.run({ fact: about as never, stopping: new AbortController().signal });
  await time.advance(KEY_CACHE_MS);
}

const ten = { amount: "10", asset: "USD" };
const link = (body: object = {}) =>
  must("POST", "/v1/payment-links", { kind: "fixed", amount: ten, ...body });
const lines = [{ name: "Tea", unitPrice: ten }];
const invoice = () =>
  must("POST", "/v1/invoices", { buyer: { name: "Ada" }, currency: "USD", lines, issue: true });
const resource = () =>
  must("POST", "/v1/x402/resources", { url: `https://shop.example/${++count}`, price: ten, listed: true });
const intent = () => must("POST", "/v1/payment-intents", { amount: ten });

describe("a suspended merchant", () => {
  it("is told why, and since when; its audit log has it as the operator's doing", async () => {
    await suspend("For a while");
    const suspendedAt = (await must("GET", "/v1/merchant")).suspendedAt;
    await suspend();
    expect(await must("GET", "/v1/merchant")).toMatchObject({ suspendedAt, suspensionReason: REASON });
    expect(new Date(suspendedAt).getTime()).toBeLessThan(time.now().getTime());
    expect([await resume(), await resume()]).toEqual([true, false]);
    expect(await must("GET", "/v1/merchant")).toMatchObject({ suspendedAt: null, suspensionReason: null });
    const notes = await database.query(
      `SELECT actor, detail->>'suspensionReason' AS reason FROM audit_entry
       WHERE merchant_id = $1 AND action = 'merchant.updated' ORDER BY occurred_at, id`,
      [shop.merchantId],
    );
    expect(notes).toEqual(["For a while", REASON, null].map((reason) => ({ actor: null, reason })));
  });

  it("asks for no money and takes none out, whichever way it asks; nothing is made", async () => {
    const made = { link: (await link()).id, intent: (await intent()).id };
    const address = { chain: "base", address: `0x${"ab".repeat(20)}` };
    const { id: addressId } = await must("POST", "/v1/payout-addresses", address);
    await suspend();
    const asked = [
      call("POST", "/v1/payment-intents", { amount: ten }),
      call("POST", `/v1/payment-intents/${made.intent}/confirm`),
      call("POST", "/v1/payment-links", { kind: "fixed", amount: ten }),
      call("POST", `/v1/payment-links/${made.link}/enable`),
      call("POST", "/v1/invoices", { buyer: { name: "Ada" }, currency: "USD", lines }),
      call("POST", "/v1/subscriptions", {
        ...{ customer: { name: "Ada", email: "ada@buyer.example" }, description: "Hosting" },
        ...{ amount: ten, interval: "month" },
      }),
      call("POST", "/v1/x402/resources", { url: "https://shop.example/new", price: ten }),
      call("POST", "/v1/payouts", {
        amount: { amount: "1", asset: "USDC" },
        chain: "base",
        destination: address.address,
      }),
      call("DELETE", `/v1/payout-addresses/${addressId}`),
    ];
    expect((await Promise.all(asked)).map(codeOf)).toEqual(asked.map(() => SUSPENDED));
    const rows = await database.query(
      `SELECT (SELECT count(*) FROM payment_intent WHERE merchant_id = $1)::int AS intents,
         (SELECT count(*) FROM payment_link WHERE merchant_id = $1)::int AS links,
         (SELECT count(*) FROM invoice WHERE merchant_id = $1)::int AS invoices,
         (SELECT count(*) FROM subscription WHERE merchant_id = $1)::int AS subscriptions,
         (SELECT count(*) FROM resource WHERE merchant_id = $1)::int AS resources,
         (SELECT count(*) FROM payout WHERE merchant_id = $1)::int AS payouts`,
      [shop.merchantId],
    );
    const none = { invoices: 0, subscriptions: 0, resources: 0, payouts: 0 };
    expect(rows).toEqual([{ intents: 1, links: 1, ...none }]);
  });

  it("takes nothing out in the moment in which it is suspended, nor in the seconds for which its key is known by what it was", async () => {
    const { address } = await must("POST", "/v1/payout-addresses", {
      chain: "base",
      address: `0x${"ab".repeat(20)}`,
    });
    await database.query("UPDATE payout_address SET usable_from = created_at");
    const payOut = () =>
      call("POST", "/v1/payouts", {
        ...{ amount: { amount: "1", asset: "USDC" }, chain: "base", destination: address },
      });
    const { asked } = await database.db.tx(async (tx) => {
      await suspendMerchant({ ...operator(), db: tx }, { merchantId: shop.merchantId, reason: REASON });
      const asked = payOut();
      await until(async () => (await waitingForLocks({ database })) === 1, "it waits for the operator");
      return { asked };
    });
    expect([await asked, await payOut()].map(codeOf)).toEqual([SUSPENDED, SUSPENDED]);
    expect(await database.query("SELECT FROM payout WHERE merchant_id = $1", [shop.merchantId])).toEqual([]);
  });

  it("reads everything, keeps its keys in order, and may refund", async () => {
    const { id } = await intent();
    await suspend();
    for (const path of ["payment-intents", "payments", "payment-links", "invoices", "balances", "payouts"])
      expect([path, (await call("GET", `/v1/${path}`)).status]).toEqual([path, 200]);
    expect((await call("GET", `/v1/payment-intents/${id}`)).status).toBe(200);
    const { status } = await call("POST", "/v1/api-keys", { name: "books", preset: "accounting" });
    expect(status).toBe(201);
    // There is nothing to give back of this one: what is refused is not that it asks.
    const { body } = await call("POST", `/v1/payments/${id}/refunds`, {});
    expect(body.code).not.toBe("merchant_suspended");
  });

  it("sees it on each page of its dashboard, with nothing to press that would be refused", async () => {
    const ask: Ask = async (path, init) => house.app.request(path, init);
    const session = await openSession(ask, shop.key);
    const [before, button] = ["/dashboard/links", "New link"];
    expect((await session.get(before)).text).toContain(button);
    await suspend("Nothing <b>sent</b>.");
    for (const path of ["/dashboard", "/dashboard/links", "/dashboard/settings"]) {
      const { status, text } = await session.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain("This account is suspended.");
      expect(text).toContain("Nothing &lt;b&gt;sent&lt;/b&gt;.");
      expect(text).not.toContain(button);
    }
  });
});

describe("what a suspended merchant sells", () => {
  const offered = async (id: string) =>
    (await database.db.pool.select({ rails: payable.rails }).from(payable).where(eq(payable.id, id)))[0]
      ?.rails;

  it("is offered to no agent, and as before once it is resumed", async () => {
    const things = [await link(), await invoice(), await resource(), await intent()].map(({ id }) => id);
    const before = await Promise.all(things.map(offered));
    await suspend();
    const nowhere = [{ chain: "-", asset: "-" }];
    expect(await Promise.all(things.map(offered))).toEqual(things.map(() => nowhere));
    expect(await must("GET", "/v1/x402/resources")).toMatchObject({ resources: [{ accepts: [] }] });
    await resume();
    expect(await Promise.all(things.map(offered))).toEqual(before);
  });

  it("is paid by nobody who has its address: no checkout begins, no way is taken", async () => {
    const { id } = await link();
    const [asked, bill] = [await intent(), await invoice()];
    await suspend();
    const { body } = await visit(`/v1/payment-links/${id}/rails`);
    expect(body).toEqual([]);
    expect(await must("GET", `/v1/payment-links/${id}`)).toMatchObject({ payable: false });
    const json = (body: object) => ({
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `k-${++count}` },
      body: JSON.stringify(body),
    });
    expect(codeOf(await visit(`/v1/payment-links/${id}/checkout`, json({})))).toEqual(SUSPENDED);
    const refusal = "The seller takes no payments right now. Nothing was paid.";
    for (const page of [`/checkout/${id}`, `/checkout/${asked.id}`, `/invoices/${bill.id}/view`]) {
      const { text } = await visit(page);
      expect([page, text.includes(refusal), text.includes('type="submit"')]).toEqual([page, true, false]);
    }
    const send = (fields: Record<string, string>) => {
      const body = `${new URLSearchParams(fields)}`;
      const type = "application/x-www-form-urlencoded";
      return { method: "POST", headers: { "content-type": type, "content-length": `${body.length}` }, body };
    };
    const way = { chain: "base", asset: "USDC", executionPath: "deposit-match" };
    const taken = await visit(`/checkout/${asked.id}/confirm`, send(way));
    expect(taken.headers.get("location")).toBe(`/checkout/${asked.id}?problem=merchant_suspended`);
    const said = (await visit(String(taken.headers.get("location")))).text;
    expect(said).toContain(refusal);
    const begun = await visit(`/checkout/${id}/pay`, send({ token: "a-token-of-the-page" }));
    expect(begun.headers.get("location")).toBe(`/checkout/${id}?problem=merchant_suspended`);
    const owed = await visit(`/invoices/${bill.id}/pay`, send({}));
    expect(owed.headers.get("location")).toBe(`/invoices/${bill.id}/view?problem=merchant_suspended`);
    expect(await database.query("SELECT FROM clearing WHERE merchant_id = $1", [shop.merchantId])).toEqual(
      [],
    );
    await resume();
    expect((await visit(`/v1/payment-links/${id}/checkout`, json({}))).status).toBe(201);
  });
});

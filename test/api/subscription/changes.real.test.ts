/** What a merchant changes of a subscription: pauses, ends, terms, its customer; and what is refused. */
import { beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, newBiller, type SetClock, setClock, type Worker, worker } from "./billing.ts";

const database = sharedDatabase();
let time: SetClock;
let house: Worker;
beforeEach(() => {
  time = setClock("2027-12-31T10:00:00.000Z");
  house = worker(database, time);
});

const DAY_MS = 86_400_000;
type Mailed = { readonly email: string };

describe("a pause", () => {
  it("leaves what was due before it to be caught up, and skips what fell into it", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(2 * DAY_MS + 1_000);
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`, { reason: "on holiday" });
    time.forward(3 * DAY_MS);
    await house.bill();
    expect(await merchant.periods(id)).toHaveLength(1);
    await merchant.must("POST", `/v1/subscriptions/${id}/resume`);
    await house.bill();
    time.forward(DAY_MS);
    await house.bill();
    expect((await merchant.periods(id)).map((period) => period.split(":")[0])).toEqual(["0", "1", "2", "6"]);
  });

  it("longer than a flood leaves what was due before it, too: what is skipped is not missed", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    await house.bill();
    time.forward(DAY_MS + 1_000);
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`);
    time.forward(40 * DAY_MS);
    await merchant.must("POST", `/v1/subscriptions/${id}/resume`);
    await house.bill();
    expect((await merchant.read(id)).subscription).toMatchObject({ state: "active", billedCycles: 2 });
    expect((await facts(database, id)).at(-1)).toMatchObject({
      type: "subscription.cycle_issued",
      payload: { cycleIndex: 1, batch: null },
    });
    time.forward(DAY_MS);
    await house.bill();
    expect((await merchant.periods(id)).map((period) => period.split(":")[0])).toEqual(["0", "1", "42"]);
  });

  it("repeated changes nothing; of what is cancelled it is refused", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const path = `/v1/subscriptions/${id}`;
    const once = await merchant.must("POST", `${path}/pause`);
    expect(await merchant.must("POST", `${path}/pause`)).toEqual(once);
    await merchant.must("POST", `${path}/cancel`);
    const again = await merchant.must("POST", `${path}/cancel`);
    expect(again).toMatchObject({ state: "cancelled", nextBillingAt: null, pausedAt: null });
    for (const word of ["pause", "resume"])
      expect(await merchant.ask("POST", `${path}/${word}`)).toMatchObject({
        status: 409,
        body: { code: "subscription_cancelled" },
      });
  });
});

describe("the end", () => {
  it("at the end of the period it stays active until then, and issues no more", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ anchorAt: "2027-12-15T00:00:00Z" });
    const path = `/v1/subscriptions/${id}/cancel`;
    expect(await merchant.must("POST", path, { at: "period-end" })).toMatchObject({
      state: "active",
      cancelAt: "2028-01-15T00:00:00.000Z",
      cancelledAt: null,
    });
    time.set("2028-01-14T23:59:59Z");
    await house.bill();
    expect((await merchant.read(id)).subscription.state).toBe("active");
    time.set("2028-01-15T00:00:00Z");
    await house.bill();
    const { subscription, cycles } = await merchant.read(id);
    expect(subscription).toMatchObject({ state: "cancelled", cancelledAt: "2028-01-15T00:00:00.000Z" });
    expect(cycles).toHaveLength(1);
  });

  it("said again just after it, before the loop has come, bills no further period", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ anchorAt: "2027-12-15T00:00:00Z" });
    const cancel = () => merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { at: "period-end" });
    const { cancelAt } = await cancel();
    time.set("2028-01-15T00:00:00.500Z");
    expect(await cancel()).toMatchObject({ state: "active", cancelAt });
    await house.bill();
    const { subscription, cycles } = await merchant.read(id);
    expect(subscription).toMatchObject({ state: "cancelled" });
    expect(cycles).toHaveLength(1);
  });

  it("that passed during a downtime bounds what is caught up: one batch, told as a whole, and no flood", async () => {
    const merchant = await newBiller(database, house);
    const weekly = await merchant.subscribe({ interval: "week" });
    const daily = await merchant.subscribe({ interval: "day" });
    const cancel = (id: string) =>
      merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { at: "period-end" });
    time.forward(15 * DAY_MS);
    await cancel(weekly.id);
    await cancel(daily.id);
    time.forward(30 * DAY_MS);
    await house.bill();
    const { subscription, cycles } = await merchant.read(weekly.id);
    expect(subscription).toMatchObject({ state: "cancelled", billedCycles: 3 });
    const isLast = async ({ id }: { readonly id: string }) =>
      (await facts(database, id)).find(({ type }) => type === "invoice.issued")?.payload.isLastOfBatch;
    expect(await Promise.all(cycles.slice(0, 2).map(isLast))).toEqual([true, false]);
    expect((await merchant.read(daily.id)).subscription).toMatchObject({
      ...{ state: "cancelled", billedCycles: 16, pauseReason: null },
    });
  });

  it("at the end of the period also in the last cycle; after that at once", async () => {
    const merchant = await newBiller(database, house);
    const anchorAt = "2027-12-15T00:00:00Z";
    const subscribe = () => merchant.subscribe({ anchorAt, interval: "year", maxCycles: 1 });
    const [last, over] = [await subscribe(), await subscribe()];
    const cancel = (id: string) =>
      merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { at: "period-end" });
    expect(await cancel(last.id)).toMatchObject({
      ...{ state: "active", billedCycles: 1, nextBillingAt: null },
      ...{ cancelAt: "2028-12-15T00:00:00.000Z", cancelledAt: null },
    });
    time.set("2028-12-14T23:59:59Z");
    await house.bill();
    expect((await merchant.read(last.id)).subscription.state).toBe("active");
    time.set("2028-12-15T00:00:00Z");
    await house.bill();
    expect((await merchant.read(last.id)).subscription).toMatchObject({
      ...{ state: "cancelled", cancelledAt: "2028-12-15T00:00:00.000Z" },
    });
    expect(await cancel(over.id)).toMatchObject({ state: "cancelled", cancelAt: null });
  });

  it("voids what is open where that was asked for", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    await merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { voidOpenInvoices: true });
    await house.settle();
    expect((await merchant.read(id)).cycles).toMatchObject([
      { state: "void", outstanding: { amount: "0.00" } },
    ]);
  });

  it("at the end of the period of one that is paused; what is open is voided, also when it is said again without that", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ anchorAt: "2027-12-15T00:00:00Z" });
    const act = (word: string, body?: unknown) =>
      merchant.must("POST", `/v1/subscriptions/${id}/${word}`, body);
    await act("pause");
    await act("cancel", { at: "period-end", voidOpenInvoices: true });
    expect(await act("cancel", { at: "period-end" })).toMatchObject({ state: "paused" });
    time.set("2028-01-15T00:00:00Z");
    await house.bill();
    await house.settle();
    const { subscription, cycles } = await merchant.read(id);
    expect(subscription).toMatchObject({ state: "cancelled", cancelledAt: "2028-01-15T00:00:00.000Z" });
    expect(cycles).toMatchObject([{ state: "void" }]);
  });

  it("after its last cycle it issues no more", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day", maxCycles: 3 });
    time.forward(10 * DAY_MS);
    await house.bill();
    expect((await merchant.read(id)).subscription).toMatchObject({
      state: "active",
      billedCycles: 3,
      nextBillingAt: null,
    });
  });

  it.each(["pause", "cancel"])("30 days overdue: %s, and the invoice is given up", async (action) => {
    const merchant = await newBiller(database, house);
    await merchant.must("PATCH", "/v1/merchant", { finalAction: action });
    const { id } = await merchant.subscribe({ interval: "year", daysUntilDue: 1 });
    time.forward(31 * DAY_MS);
    await house.settle();
    expect((await merchant.read(id)).subscription.state).toBe("past-due");
    time.forward(DAY_MS);
    await house.settle();
    const { subscription, cycles } = await merchant.read(id);
    expect(subscription.state).toBe(action === "pause" ? "paused" : "cancelled");
    expect(cycles).toMatchObject([{ state: "uncollectible", status: "uncollectible" }]);
  });

  it.each(["pause", "cancel"])(
    "two invoices 30 days overdue: %s once, and both are given up",
    async (action) => {
      const merchant = await newBiller(database, house);
      await merchant.must("PATCH", "/v1/merchant", { finalAction: action });
      const { id } = await merchant.subscribe({ interval: "day", maxCycles: 2, daysUntilDue: 1 });
      time.forward(DAY_MS);
      await house.bill();
      time.forward(40 * DAY_MS);
      await house.settle();
      const states = (await merchant.read(id)).cycles.map(({ state }: { state: string }) => state);
      expect(states).toEqual(["uncollectible", "uncollectible"]);
      const done = action === "pause" ? "subscription.paused" : "subscription.cancelled";
      expect((await facts(database, id)).filter(({ type }) => type === done)).toHaveLength(1);
    },
  );

  it("30 days overdue, and void before it was given up: nothing follows", async () => {
    const merchant = await newBiller(database, house);
    await merchant.must("PATCH", "/v1/merchant", { finalAction: "cancel" });
    const { id } = await merchant.subscribe({ interval: "year", daysUntilDue: 1 });
    const [{ id: invoiceId }] = (await merchant.read(id)).cycles;
    time.forward(32 * DAY_MS);
    const { db } = database;
    const late: typeof db = {
      ...db,
      tx: async (work) => {
        await merchant.must("POST", `/v1/invoices/${invoiceId}/void`);
        return db.tx(work);
      },
    };
    await worker({ db: late }, time).turn("subscriptions-end");
    const { subscription, cycles } = await merchant.read(id);
    expect([subscription.state, cycles[0].state]).toEqual(["active", "void"]);
  });
});

describe("a change", () => {
  it("counts from the next cycle on, and never for one that is due", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const path = `/v1/subscriptions/${id}`;
    const amount = { amount: "12.50", asset: "USD" };
    const changed = await merchant.must("PATCH", path, { amount, daysUntilDue: 0 });
    expect(changed).toMatchObject({ amount: { amount: "12.50" }, daysUntilDue: 0 });
    time.set("2028-01-31T10:00:00Z");
    expect(await merchant.ask("PATCH", path, { amount })).toMatchObject({
      status: 409,
      body: { code: "subscription_behind" },
    });
    await house.bill();
    const totals = (await merchant.read(id)).cycles.map(
      (each: { total: { amount: string } }) => each.total.amount,
    );
    expect(totals).toEqual(["12.50", "10.00"]);
    expect(await merchant.ask("PATCH", path, { description: "Other", version: 1 })).toMatchObject({
      status: 409,
      body: { code: "version_conflict" },
    });
  });
});

describe("bad input", () => {
  const good = {
    customer: { name: "Ada", email: "ada@buyer.example" },
    description: "Hosting",
    amount: { amount: "10.00", asset: "USD" },
    interval: "week",
  };
  it.each([
    ["no customer", { customer: undefined }, 400, "/customer"],
    ["an email that is none", { customer: { name: "A", email: "ada" } }, 400, "/customer/email"],
    ["another interval", { interval: "quarter" }, 400, "/interval"],
    ["53 weeks", { intervalCount: 53 }, 400, "/intervalCount"],
    ["366 days", { interval: "day", intervalCount: 366 }, 400, "/intervalCount"],
    ["an amount as a number", { amount: { amount: 10, asset: "USD" } }, 400, "/amount/amount"],
    ["too many decimals", { amount: { amount: "1.001", asset: "USD" } }, 400, "/amount/amount"],
    ["nothing to pay", { amount: { amount: "0", asset: "USD" } }, 422, "/amount/amount"],
    ["a currency that is none", { amount: { amount: "1", asset: "XYZ" } }, 422, "/amount/asset"],
    ["an anchor too long ago", { anchorAt: "2027-12-20T00:00:00Z" }, 422, "/anchorAt"],
    ["an anchor too far ahead", { anchorAt: "2030-01-01T00:00:00Z" }, 422, "/anchorAt"],
    ["91 days until due", { daysUntilDue: 91 }, 400, "/daysUntilDue"],
    ["no cycles at all", { maxCycles: 0 }, 400, "/maxCycles"],
    ["an unknown field", { trial: true }, 400, "/trial"],
  ])("%s", async (_, over, status, pointer) => {
    const merchant = await newBiller(database, house);
    const answer = await merchant.ask("POST", "/v1/subscriptions", { ...good, ...over });
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([status, pointer]);
  });

  it("the same key gives the subscription already made; two of one email are one customer", async () => {
    const merchant = await newBiller(database, house);
    const headers = { "idempotency-key": "one" };
    const [first, again] = [
      await merchant.ask("POST", "/v1/subscriptions", good, headers),
      await merchant.ask("POST", "/v1/subscriptions", good, headers),
    ];
    expect(again.body).toEqual(first.body);
    const other = await merchant.subscribe({ customer: { name: "Ada L", email: "ADA@buyer.example" } });
    expect(other.subscriber.customerId).toBe(first.body.subscriber.customerId);
    const mine = await merchant.must("GET", "/v1/subscriptions?email=ada@BUYER.example");
    expect(mine).toHaveLength(2);
  });
});

describe("a customer who changes", () => {
  it("is billed as they are now", async () => {
    const merchant = await newBiller(database, house);
    const kept = await merchant.subscribe();
    const { customerId } = kept.subscriber;
    await merchant.must("PATCH", `/v1/customers/${customerId}`, {
      ...{ name: "Ada King", email: "countess@buyer.example", taxId: "GB1", address: "Marylebone" },
    });
    // the cycle that was issued before stays as it was
    time.set("2028-01-31T10:00:00Z");
    await house.turn("subscriptions");
    const invoices = await merchant.must("GET", `/v1/invoices?subscriptionId=${kept.id}`);
    const buyers = invoices.map(({ buyer }: { buyer: Mailed }) => buyer);
    expect(buyers.toSorted((a: Mailed, b: Mailed) => (a.email > b.email ? -1 : 1))).toEqual([
      { name: "Ada King", email: "countess@buyer.example", taxId: "GB1", address: "Marylebone" },
      { name: "Ada", email: kept.subscriber.email, taxId: null, address: null },
    ]);
    const { subscription } = await merchant.must("GET", `/v1/subscriptions/${kept.id}`);
    expect(subscription.subscriber).toEqual({
      customerId,
      name: "Ada King",
      email: "countess@buyer.example",
    });
  });
});

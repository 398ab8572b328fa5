/** What a merchant changes of a subscription: pauses, ends, terms; and what is refused. */
import { describe, expect, it, vi } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { markPaid, reverse } from "../invoice/bills.ts";
import { newId } from "../world.ts";
import { facts, freshBilling, newBiller } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

const DAY_MS = 86_400_000;

describe("a pause", () => {
  it("leaves what was due before it to be caught up, and skips what fell into it", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(2 * DAY_MS + 1_000);
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`, { reason: "on holiday" });
    time.forward(3 * DAY_MS);
    await house.bill();
    expect(await merchant.periods(id)).toHaveLength(1);
    expect(await merchant.must("POST", `/v1/subscriptions/${id}/resume`)).toMatchObject({
      ...{ state: "active", pausedAt: null, pauseReason: null },
    });
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

  it.each([
    ["paid before it and reversed in it", ["pay", "pause", "reverse", "resume"]],
    ["paid in it and reversed after it", ["pause", "pay", "resume", "reverse"]],
  ])("holds reminders back while it lasts, also of an invoice that was %s", async (_, steps) => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year" });
    const [{ id: bill }] = (await merchant.read(id)).cycles;
    const reminded = async () => {
      await house.settle();
      const told = (await facts(database, bill)).filter(({ type }) => type === "invoice.reminder_due");
      return told.map(({ payload }) => payload.template);
    };
    const act: Readonly<Record<string, () => Promise<unknown>>> = {
      pay: () => markPaid(database, bill),
      reverse: async () => {
        await reverse(database, bill, time.now());
        await house.settle();
      },
      pause: () => merchant.must("POST", `/v1/subscriptions/${id}/pause`),
      resume: () => merchant.must("POST", `/v1/subscriptions/${id}/resume`),
    };
    for (const step of steps.slice(0, 3)) await act[step]?.();
    time.set("2028-01-07T10:00:00Z");
    expect(await reminded()).toEqual([]);
    await act[steps[3] ?? ""]?.();
    await house.settle();
    time.set("2028-01-10T10:00:00Z");
    expect(await reminded()).toEqual(["overdue-3"]);
  });

  it.each([
    ["by its merchant", { at: "now" }],
    ["at the end of its period", { at: "period-end" }],
  ])("that ends with the subscription, %s, lets reminders of what is open go out again", async (_, how) => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    await house.bill();
    const [{ id: bill }] = (await merchant.read(id)).cycles;
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`);
    await merchant.must("POST", `/v1/subscriptions/${id}/cancel`, how);
    time.forward(DAY_MS + 1_000);
    await house.bill();
    expect((await merchant.read(id)).subscription.state).toBe("cancelled");
    time.forward(6 * DAY_MS);
    await house.settle();
    expect((await facts(database, bill)).map(({ type }) => type)).toContain("invoice.reminder_due");
  });

  it("repeated changes nothing; of what is cancelled it is refused", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const path = `/v1/subscriptions/${id}`;
    const once = await merchant.must("POST", `${path}/pause`, { reason: "on holiday" });
    expect(await merchant.must("POST", `${path}/pause`)).toEqual(once);
    await merchant.must("POST", `${path}/cancel`);
    const again = await merchant.must("POST", `${path}/cancel`);
    expect(again).toMatchObject({
      ...{ state: "cancelled", nextBillingAt: null, pausedAt: null, pauseReason: null },
    });
    const refused = { status: 409, body: { code: "subscription_cancelled" } };
    for (const word of ["pause", "resume"])
      expect(await merchant.ask("POST", `${path}/${word}`)).toMatchObject(refused);
    expect(await merchant.ask("PATCH", path, { description: "Other" })).toMatchObject(refused);
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

  it("comes at once before the first cycle has begun, and where it is said anew", async () => {
    const merchant = await newBiller(database, house);
    const [ahead, running] = [
      await merchant.subscribe({ anchorAt: "2028-02-01T00:00:00Z" }),
      await merchant.subscribe(),
    ];
    const cancel = (id: string, body: unknown) =>
      merchant.must("POST", `/v1/subscriptions/${id}/cancel`, body);
    const ended = { state: "cancelled", cancelledAt: "2027-12-31T10:00:00.000Z", cancelAt: null };
    expect(await cancel(ahead.id, { at: "period-end" })).toMatchObject(ended);
    expect(await cancel(running.id, { at: "period-end" })).toMatchObject({ state: "active" });
    expect(await cancel(running.id, { at: "now" })).toMatchObject(ended);
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

  it("goes by the last cycle that was billed, not by those that fell into a pause after it", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year", maxCycles: 1 });
    const act = (word: string, body?: unknown) =>
      merchant.must("POST", `/v1/subscriptions/${id}/${word}`, body);
    await act("pause");
    time.set("2029-06-01T00:00:00Z");
    await act("resume");
    expect(await act("cancel", { at: "period-end" })).toMatchObject({ state: "cancelled", cancelAt: null });
  });

  it("voids what is owed, be it given up, save what somebody is paying", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(2 * DAY_MS);
    await house.bill();
    const [open, given, paying] = (await merchant.read(id)).cycles;
    await merchant.must("POST", `/v1/invoices/${given.id}/mark-uncollectible`);
    const holder = { by: "authorization" as const, paymentId: newId("stl"), isCredited: false };
    vi.spyOn(house.facilitator.once, "lock").mockImplementation(async (_tx, payableId) =>
      payableId === paying.id ? holder : null,
    );
    await merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { voidOpenInvoices: true });
    await house.settle();
    expect((await merchant.read(id)).cycles).toMatchObject([
      { id: open.id, state: "void" },
      { id: given.id, state: "void" },
      { id: paying.id, state: "open" },
    ]);
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

  it("voids what is open also where that is asked for after it was cancelled", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const cancel = (body?: unknown) => merchant.must("POST", `/v1/subscriptions/${id}/cancel`, body);
    const cancelled = await cancel();
    expect(await cancel()).toEqual(cancelled);
    await house.settle();
    expect((await merchant.read(id)).cycles).toMatchObject([{ state: "open" }]);
    await cancel({ voidOpenInvoices: true });
    await house.settle();
    const { subscription, cycles } = await merchant.read(id);
    expect(cycles).toMatchObject([{ state: "void" }]);
    expect(await cancel({ voidOpenInvoices: true })).toEqual(subscription);
  });

  it("said again for the end of the period changes nothing", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const cancel = () => merchant.must("POST", `/v1/subscriptions/${id}/cancel`, { at: "period-end" });
    expect(await cancel()).toEqual(await cancel());
  });

  it("at the end of the period of one that is paused; what is open is voided, also when it is said again without that", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ anchorAt: "2027-12-15T00:00:00Z" });
    const act = (word: string, body?: unknown) =>
      merchant.must("POST", `/v1/subscriptions/${id}/${word}`, body);
    await act("pause");
    await act("cancel", { at: "period-end", voidOpenInvoices: true });
    expect(await act("cancel", { at: "period-end" })).toMatchObject({ state: "paused" });
    await house.settle();
    expect((await merchant.read(id)).cycles).toMatchObject([{ state: "open" }]);
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
});

describe("a change", () => {
  it("counts from the next cycle on, and never for one that is due", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    const path = `/v1/subscriptions/${id}`;
    const amount = { amount: "12.50", asset: "EUR" };
    const changed = await merchant.must("PATCH", path, { amount, daysUntilDue: 0 });
    expect(changed).toMatchObject({ amount, daysUntilDue: 0 });
    time.set("2028-01-31T10:00:00Z");
    expect(await merchant.ask("PATCH", path, { amount })).toMatchObject({
      status: 409,
      body: { code: "subscription_behind" },
    });
    await house.bill();
    const totals = (await merchant.read(id)).cycles.map(
      ({ total }: { total: { amount: string; asset: string } }) => `${total.amount} ${total.asset}`,
    );
    expect(totals).toEqual(["12.50 EUR", "10.00 USD"]);
    expect(await merchant.ask("PATCH", path, { description: "Other", version: 1 })).toMatchObject({
      status: 409,
      body: { code: "version_conflict" },
    });
  });
});

describe("a change to what it is already", () => {
  it("changes nothing", async () => {
    const merchant = await newBiller(database, house);
    const made = await merchant.subscribe({ metadata: { a: "1", b: "2" } });
    const { description, daysUntilDue, amount } = made;
    const same = { description, daysUntilDue, amount: { amount: "10", asset: amount.asset } };
    const change = (body: unknown) => merchant.must("PATCH", `/v1/subscriptions/${made.id}`, body);
    expect(await change({ ...same, metadata: { b: "2", a: "1" } })).toEqual(made);
    expect((await change({ ...same, metadata: {} })).version).toBe(made.version + 1);
  });
});

describe("a change in a pause", () => {
  it("waits for what was due before the pause; what falls into the pause is no hindrance", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    const path = `/v1/subscriptions/${id}`;
    const change = () => merchant.ask("PATCH", path, { amount: { amount: "99.00", asset: "USD" } });
    const pause = () => merchant.must("POST", `${path}/pause`);
    time.forward(DAY_MS + 1_000);
    await pause();
    expect(await change()).toMatchObject({ status: 409, body: { code: "subscription_behind" } });
    await merchant.must("POST", `${path}/resume`);
    await house.bill();
    time.forward(DAY_MS - 1_000);
    await pause();
    expect(await change()).toMatchObject({ status: 200 });
    time.forward(DAY_MS);
    expect(await change()).toMatchObject({ status: 200 });
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

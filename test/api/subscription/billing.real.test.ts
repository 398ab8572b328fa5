/** A subscription's life by a clock that is set: exact cycles, none twice, pauses, downtimes, ends. */
import { beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, killed, newBiller, type SetClock, setClock, type Worker, worker } from "./billing.ts";

const database = sharedDatabase();
let time: SetClock;
let house: Worker;
beforeEach(() => {
  time = setClock("2027-12-31T10:00:00.000Z");
  house = worker(database, time);
});

const DAY_MS = 86_400_000;
type Mailed = { readonly email: string };

describe("fourteen months", () => {
  it("month ends and a leap day, a pause, five cycles of downtime, two workers that are killed: each period once", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe();
    expect(await merchant.periods(id)).toEqual(["0: 2027-12-31 2028-01-31"]);
    let seed = 7;
    const kills = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % 3 === 0;
    };
    const workers = [killed(database.db, kills), killed(database.db, kills)].map((db) =>
      worker({ db }, time),
    );
    const bothUntil = async (at: string) => {
      time.set(at);
      for (let left = 1; left > 0; ) {
        await Promise.all(workers.map((each) => each.turn("subscriptions").catch(() => 0)));
        const [row] = await database.query<{ n: string }>(
          "SELECT count(*) AS n FROM subscription WHERE merchant_id = $1 AND due_at <= $2",
          [merchant.merchantId, time.now()],
        );
        left = Number(row?.n);
      }
    };
    await bothUntil("2028-01-31T10:00:00Z");
    await bothUntil("2028-02-29T10:00:00Z");
    await bothUntil("2028-03-31T10:00:01Z");
    // paused over two cycles
    time.set("2028-04-10T00:00:00Z");
    expect(await merchant.must("POST", `/v1/subscriptions/${id}/pause`)).toMatchObject({
      state: "paused",
      nextBillingAt: null,
    });
    await bothUntil("2028-06-10T00:00:00Z");
    expect(await merchant.must("POST", `/v1/subscriptions/${id}/resume`)).toMatchObject({
      nextBillingAt: "2028-06-30T10:00:00.000Z",
    });
    await bothUntil("2028-06-30T10:00:00Z");
    // nobody works for five cycles
    await bothUntil("2028-11-30T11:00:00Z");
    await bothUntil("2028-12-31T10:00:00Z");
    await bothUntil("2029-01-31T10:00:00Z");
    expect(await merchant.periods(id)).toEqual([
      "0: 2027-12-31 2028-01-31",
      "1: 2028-01-31 2028-02-29",
      "2: 2028-02-29 2028-03-31",
      "3: 2028-03-31 2028-04-30",
      "6: 2028-06-30 2028-07-31",
      "7: 2028-07-31 2028-08-31",
      "8: 2028-08-31 2028-09-30",
      "9: 2028-09-30 2028-10-31",
      "10: 2028-10-31 2028-11-30",
      "11: 2028-11-30 2028-12-31",
      "12: 2028-12-31 2029-01-31",
      "13: 2029-01-31 2029-02-28",
    ]);
    const { subscription, cycles } = await merchant.read(id);
    expect(subscription).toMatchObject({ billedCycles: 12, nextBillingAt: "2029-02-28T10:00:00.000Z" });
    expect(cycles.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: 12 }, (_, i) => 12 - i),
    );
    const told = (await facts(database, id)).map(({ type }) => type);
    expect(told.filter((type) => type === "subscription.cycle_issued")).toHaveLength(12);
    const rows = await database.query("SELECT state FROM subscription_cycle WHERE subscription_id = $1", [
      id,
    ]);
    expect(rows.filter(({ state }) => state === "skipped")).toHaveLength(2);
    // nobody is born overdue, and late ones are told together
    const late = cycles.filter(
      ({ cycle }: { cycle: { index: number } }) => cycle.index >= 7 && cycle.index <= 11,
    );
    expect(new Set(late.map(({ dueAt }: { dueAt: string }) => dueAt))).toEqual(
      new Set(["2028-12-07T11:00:00.000Z"]),
    );
    const issued = await Promise.all(
      late.map(async (each: { id: string }) =>
        (await facts(database, each.id)).find(({ type }) => type === "invoice.issued"),
      ),
    );
    expect(new Set(issued.map((fact) => fact?.payload.batch)).size).toBe(1);
    expect(issued.filter((fact) => fact?.payload.isLastOfBatch)).toHaveLength(1);
  });
});

describe("a subscription that cannot be billed", () => {
  it("does not keep the others from their turn, and is tried again", async () => {
    const merchant = await newBiller(database, house);
    const [broken, fine] = [
      await merchant.subscribe({ interval: "day" }),
      await merchant.subscribe({ interval: "day" }),
    ];
    time.forward(DAY_MS);
    await database.query("UPDATE subscription SET due_at = due_at - interval '1 hour' WHERE id = $1", [
      broken.id,
    ]);
    await database.query(
      `CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`,
    );
    await database.query(
      `CREATE TRIGGER refuse_one BEFORE INSERT ON subscription_cycle FOR EACH ROW
       WHEN (NEW.subscription_id = '${broken.id}') EXECUTE FUNCTION refuse_one()`,
    );
    await house.bill();
    const billed = async (id: string) => (await merchant.read(id)).subscription.billedCycles;
    expect([await billed(broken.id), await billed(fine.id)]).toEqual([1, 2]);
    await database.query("DROP TRIGGER refuse_one ON subscription_cycle");
    await house.bill();
    expect(await billed(broken.id)).toBe(1);
    time.forward(60_000);
    await house.bill();
    expect(await billed(broken.id)).toBe(2);
  });
});

describe("a downtime of more than 31 cycles", () => {
  it("pauses the subscription in place of a flood; resumed, it goes on after now", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(32 * DAY_MS);
    await house.bill();
    const { subscription, cycles } = await merchant.read(id);
    expect(cycles).toHaveLength(1);
    expect(subscription).toMatchObject({ state: "paused", pauseReason: "32 cycles were missed" });
    expect((await facts(database, id)).at(-1)).toMatchObject({
      type: "subscription.paused",
      payload: { missed: 32, previous: { state: "active" } },
    });
    expect(house.log.lines.join()).toContain("too many cycles were missed");
    const resumed = await merchant.must("POST", `/v1/subscriptions/${id}/resume`);
    expect(resumed).toMatchObject({ state: "active", nextBillingAt: "2028-02-02T10:00:00.000Z" });
    await house.bill();
    expect((await merchant.read(id)).cycles).toHaveLength(1);
  });

  it("also those of an earlier pause, where nothing was billed between: they are skipped once", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    await house.bill();
    time.forward(DAY_MS + 1_000);
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`);
    time.forward(3 * DAY_MS);
    await merchant.must("POST", `/v1/subscriptions/${id}/resume`);
    time.forward(40 * DAY_MS);
    await house.bill();
    expect((await merchant.read(id)).subscription.state).toBe("paused");
    const resumed = await merchant.must("POST", `/v1/subscriptions/${id}/resume`);
    expect(resumed).toMatchObject({ state: "active" });
    await house.bill();
    time.forward(DAY_MS);
    await house.bill();
    expect((await merchant.periods(id)).map((period) => period.split(":")[0])).toEqual(["0", "45"]);
  });

  it("31 are caught up", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(31 * DAY_MS);
    await house.bill();
    expect((await merchant.read(id)).subscription).toMatchObject({ state: "active", billedCycles: 32 });
  });
});

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

describe("past due", () => {
  it("while a cycle is overdue; recovered when it is paid or void; reminders go out once each", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year" });
    const [cycle] = (await merchant.read(id)).cycles;
    const reminders = async () =>
      (await facts(database, cycle.id))
        .filter(({ type }) => type === "invoice.reminder_due")
        .map(({ payload }) => payload.template);
    for (const at of ["2028-01-04T10:00:00Z", "2028-01-07T00:00:00Z", "2028-01-07T09:00:00Z"]) {
      time.set(at);
      await house.settle();
    }
    expect(await reminders()).toEqual(["due-in-3-days", "due-today"]);
    expect((await merchant.read(id)).subscription.state).toBe("active");
    time.set("2028-01-10T10:00:00.001Z");
    await Promise.all([house.settle(), worker(database, time).settle()]);
    expect((await merchant.read(id)).subscription.state).toBe("past-due");
    expect(await merchant.must("GET", "/v1/invoices?status=overdue")).toMatchObject([{ id: cycle.id }]);
    await merchant.must("POST", `/v1/subscriptions/${id}/pause`);
    time.set("2028-01-14T10:00:00.001Z");
    await house.settle();
    expect((await merchant.must("POST", `/v1/subscriptions/${id}/resume`)).state).toBe("past-due");
    time.set("2028-02-20T00:00:00Z");
    await house.settle();
    // what came due in the pause is not made up for
    expect(await reminders()).toEqual(["due-in-3-days", "due-today", "overdue-3", "overdue-14"]);
    await merchant.must("POST", `/v1/invoices/${cycle.id}/void`);
    await house.settle();
    expect((await merchant.read(id)).subscription.state).toBe("active");
    const told = (await facts(database, id)).map(({ type }) => type.replace("subscription.", ""));
    expect(told).toEqual([
      "created",
      "cycle_issued",
      "past_due",
      "paused",
      "resumed",
      "past_due",
      "recovered",
    ]);
  });

  it("is not told of a cycle that is due as it is issued before it had a day", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year", daysUntilDue: 0 });
    const state = async () => (await merchant.read(id)).subscription.state;
    for (const [ms, expected] of [
      [1_000, "active"],
      [DAY_MS - 1_000, "active"],
      [1, "past-due"],
    ] as const) {
      time.forward(ms);
      await house.settle();
      expect(await state()).toBe(expected);
    }
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
    ["a currency that is none", { amount: { amount: "1", asset: "XYZ" } }, 422, "/amount"],
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

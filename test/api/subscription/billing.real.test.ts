/** A subscription's cycles by a clock that is set: exact, none twice, none lost in a downtime, reminded of when due. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, freshBilling, killed, newBiller, remindersOf, worker } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

const DAY_MS = 86_400_000;

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

describe("a cycle", () => {
  it("says what its subscription says, and which days it is for", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ daysUntilDue: 3, sendEmail: false, metadata: { plan: "a" } });
    const { cycles } = await merchant.read(id);
    expect(cycles).toMatchObject([
      {
        lines: [{ name: "Hosting (2027-12-31 to 2028-01-31)", quantity: 1, unitPrice: { amount: "10.00" } }],
        ...{ sendEmail: false, metadata: { plan: "a" }, notes: null, dueAt: "2028-01-03T10:00:00.000Z" },
        buyer: { name: "Ada", email: "ada@buyer.example" },
      },
    ]);
  });

  it("may have begun one interval ago, and no longer: what is due by then is billed", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "week", anchorAt: "2027-12-24T10:00:00Z" });
    await house.bill();
    expect(await merchant.periods(id)).toEqual(["0: 2027-12-24 2027-12-31", "1: 2027-12-31 2028-01-07"]);
  });
});

describe("a list of subscriptions", () => {
  it("can be narrowed by state and by customer", async () => {
    const merchant = await newBiller(database, house);
    const one = await merchant.subscribe();
    const other = await merchant.subscribe({ customer: { name: "Eve", email: "eve@buyer.example" } });
    await merchant.must("POST", `/v1/subscriptions/${other.id}/pause`);
    const ids = async (query: string) =>
      (await merchant.must("GET", `/v1/subscriptions?${query}`)).map(({ id }: { id: string }) => id);
    expect([await ids("state=active"), await ids("state=paused")]).toEqual([[one.id], [other.id]]);
    expect(await ids(`customerId=${one.subscriber.customerId}`)).toEqual([one.id]);
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
    // what was missed is owed no more: nothing keeps its terms
    await merchant.must("PATCH", `/v1/subscriptions/${id}`, { daysUntilDue: 3 });
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

  it("is that of one subscription: what another one skipped makes it no shorter", async () => {
    const merchant = await newBiller(database, house);
    const daily = () => merchant.subscribe({ interval: "day" });
    const [resumed, missed] = [await daily(), await daily()];
    await merchant.must("POST", `/v1/subscriptions/${resumed.id}/pause`);
    time.forward(10 * DAY_MS);
    await merchant.must("POST", `/v1/subscriptions/${resumed.id}/resume`);
    time.forward(22 * DAY_MS);
    await house.bill();
    const stateOf = async (id: string) => (await merchant.read(id)).subscription.state;
    expect([await stateOf(resumed.id), await stateOf(missed.id)]).toEqual(["active", "paused"]);
  });

  it("31 are caught up", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day" });
    time.forward(31 * DAY_MS);
    await house.bill();
    expect((await merchant.read(id)).subscription).toMatchObject({ state: "active", billedCycles: 32 });
  });
});

describe("past due", () => {
  it("while a cycle is overdue; recovered when it is paid or void; reminders go out once each", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year" });
    const [cycle] = (await merchant.read(id)).cycles;
    const reminders = () => remindersOf(database, cycle.id);
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

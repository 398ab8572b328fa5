/** What follows where a cycle is never paid, as its merchant wants it. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, freshBilling, newBiller, worker } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

const DAY_MS = 86_400_000;

describe("what is never paid", () => {
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
    expect(subscription.pauseReason).toBe(
      action === "pause" ? "an invoice has been overdue for 30 days" : null,
    );
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

  it("30 days overdue: nothing follows for a merchant who wants that", async () => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "year", daysUntilDue: 1 });
    time.forward(40 * DAY_MS);
    await house.settle();
    expect(await merchant.read(id)).toMatchObject({
      ...{ subscription: { state: "past-due" }, cycles: [{ state: "open", status: "overdue" }] },
    });
  });

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

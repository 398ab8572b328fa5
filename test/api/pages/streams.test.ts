/** Who is told what of a payment that pages wait for, second by second. */
import { describe, expect, it } from "vitest";
import type { CheckoutStatus, Phase } from "../../../api/pages/schema.ts";
import { createStreams } from "../../../api/pages/streams.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { manualClock } from "../../support/manual-clock.ts";

/** Payments with pages that wait for them. `asked` counts the looks for news, and tells which payments were read. */
function street() {
  const clock = manualClock();
  const payments = new Map<
    string,
    { phase: Phase; mark: string; isBroken: boolean; confirmations: number }
  >();
  const asked = { looks: 0, read: [] as string[] };
  let isDown = false;
  const paymentOf = (id: string) => {
    const there = payments.get(id) ?? { phase: "waiting", mark: "1", isBroken: false, confirmations: 0 };
    payments.set(id, there);
    return there;
  };
  const streams = createStreams({
    clock,
    log: silentLog,
    async marks(named) {
      asked.looks += 1;
      if (isDown) throw new Error("the database is away");
      return new Map(named.map(({ id }) => [id, paymentOf(id).mark]));
    },
    async read(id) {
      asked.read.push(id);
      const { phase, confirmations, isBroken } = paymentOf(id);
      if (isBroken) throw new Error("it cannot be read");
      const status = {
        id,
        phase,
        confirmations,
        now: clock.now().toISOString(),
      } as unknown as CheckoutStatus;
      return { status, sequence: paymentOf(id).mark };
    },
  });
  return {
    ...{ asked, streams, paymentOf },
    /** A page that waits, with all that it is told. */
    open(id: string, who = "192.0.2.1") {
      const told: string[] = [];
      const leave = streams.follow({ merchantId: "mer_1", id, who }, ({ phase }, sequence) => {
        told.push(`${phase} ${sequence}`);
      });
      return { told, leave: leave ?? expect.fail("too many listen") };
    },
    canOpen(id: string, who: string) {
      const leave = streams.follow({ merchantId: "mer_1", id, who }, () => {});
      leave?.();
      return leave !== null;
    },
    becomes(id: string, phase: Phase) {
      const payment = paymentOf(id);
      Object.assign(payment, { phase, mark: String(Number(payment.mark) + 1) });
    },
    databaseIs(state: "away" | "back") {
      isDown = state === "away";
    },
    async second() {
      await clock.asleep(1);
      await clock.advance(1_000);
      await clock.asleep(clock.sleepers());
    },
  };
}

describe("a page that waits for a payment", () => {
  it("is told of each change once, as is every other page of the payment, and of no other payment", async () => {
    const { open, becomes, second, asked } = street();
    const [one, two, other] = [open("pi_1"), open("pi_1"), open("pi_2")];
    await second();
    expect([one.told, two.told, other.told]).toEqual([["waiting 1"], ["waiting 1"], ["waiting 1"]]);
    becomes("pi_1", "settling");
    await second();
    await second();
    expect([one.told, two.told, other.told]).toEqual([
      ["waiting 1", "settling 2"],
      ["waiting 1", "settling 2"],
      ["waiting 1"],
    ]);
    // one read for all of its pages, and none where nothing changed
    expect(asked.read).toEqual(["pi_1", "pi_2", "pi_1"]);
  });

  it("is told what became true between its own look and its joining, though others heard it before", async () => {
    const { open, becomes, second } = street();
    open("pi_1");
    await second();
    // the second page reads that money is waited for; before it listens, the first one is told that it is paid
    becomes("pi_1", "paid");
    await second();
    const late = open("pi_1");
    await second();
    expect(late.told).toEqual(["paid 2"]);
  });

  it("sees confirmations grow, which no row tells of", async () => {
    const { open, becomes, second, paymentOf } = street();
    const { told } = open("pi_1");
    for (const phase of ["detected", "underpaid"] as const) {
      becomes("pi_1", phase);
      await second();
      paymentOf("pi_1").confirmations += 1;
      await second();
      await second();
    }
    expect(told).toEqual(["detected 2", "detected 2", "underpaid 3", "underpaid 3"]);
  });

  it("hears nothing any more once it has left, and nobody looks when all have", async () => {
    const { open, becomes, second, asked } = street();
    const [one, two] = [open("pi_1"), open("pi_1")];
    one.leave();
    await second();
    expect([one.told, two.told]).toEqual([[], ["waiting 1"]]);
    two.leave();
    two.leave();
    becomes("pi_1", "paid");
    await second();
    expect([two.told, asked.looks]).toEqual([["waiting 1"], 1]);
    expect(asked.read).toEqual(["pi_1"]);
    // and the next one is looked after again
    const three = open("pi_1");
    await second();
    expect(three.told).toEqual(["paid 2"]);
  });

  it("is not read for once it has left, though it leaves while the street is looked through", async () => {
    const { open, second, asked, streams } = street();
    let leave = () => {};
    streams.follow({ merchantId: "mer_1", id: "pi_1", who: "192.0.2.1" }, () => leave());
    ({ leave } = open("pi_2"));
    await second();
    expect(asked.read).toEqual(["pi_1"]);
  });

  it("is not kept from its news by another payment that cannot be read, nor for long by a database that is away", async () => {
    const { open, becomes, second, paymentOf, databaseIs } = street();
    paymentOf("pi_1").isBroken = true;
    const [broken, good] = [open("pi_1"), open("pi_2")];
    await second();
    expect([broken.told, good.told]).toEqual([[], ["waiting 1"]]);
    databaseIs("away");
    becomes("pi_2", "paid");
    await second();
    expect(good.told).toEqual(["waiting 1"]);
    databaseIs("back");
    paymentOf("pi_1").isBroken = false;
    await second();
    expect([broken.told, good.told]).toEqual([["waiting 1"], ["waiting 1", "paid 2"]]);
  });
});

describe("streams", () => {
  it("are thirty of one address, whichever payments they wait for; each that is left makes room, once", async () => {
    const { open, canOpen } = street();
    const pages = Array.from({ length: 30 }, (_, i) => open(`pi_${i}`));
    expect([canOpen("pi_0", "192.0.2.1"), canOpen("pi_0", "192.0.2.2")]).toEqual([false, true]);
    pages[0]?.leave();
    pages[0]?.leave();
    open("pi_0");
    expect(canOpen("pi_0", "192.0.2.1")).toBe(false);
  });

  it("are two thousand of all", async () => {
    const { open, canOpen } = street();
    const pages = Array.from({ length: 2_000 }, (_, i) => open("pi_1", `address ${Math.floor(i / 30)}`));
    expect(canOpen("pi_2", "192.0.2.2")).toBe(false);
    pages[0]?.leave();
    expect(canOpen("pi_2", "192.0.2.2")).toBe(true);
  });
});

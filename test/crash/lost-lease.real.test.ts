/** A process that stalls, loses its leases to another one, and then goes on as if nothing had happened. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Checkpoint } from "#facilitator";
import { chainFaults } from "../support/chain-faults.ts";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { gate } from "../support/gate.ts";
import { type Merchant, newMerchant, type RunningHouse, startHouse, until } from "../support/house.ts";
import { attemptsOf, claimOf, ledgerOf, stateOf, transactionsSent } from "../support/records.ts";
import { expectAtRest, newPayment, type Place, withMiningHeld } from "../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;

beforeAll(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
});
afterAll(async () => {
  await database.drop();
  await dev.stop();
});

interface Stage {
  readonly place: Place;
  readonly first: RunningHouse;
  readonly faults: ReturnType<typeof chainFaults>;
  readonly merchant: Merchant;
  /** The first process stops at this step, once. */
  stallAt(step: Checkpoint): { readonly reached: Promise<void>; readonly goOn: () => void };
  /** Starts the second process; resolves when it follows the chain, or has the lane. */
  takenOver(what: "observer" | "signer"): Promise<void>;
}

/** Two processes on one database and chain: the first has all the leases, the second comes later. */
async function twoProcesses(): Promise<Stage> {
  const settings = { leaseSeconds: 1, maxWaitMs: 4_000 };
  const faults = chainFaults();
  const stall = { step: "" as Checkpoint | "", held: gate(), reached: gate() };
  const houses: RunningHouse[] = [];
  const first = await startHouse(dev, database, {
    settings,
    wrapChain: faults.wrap,
    async checkpoint(step) {
      if (step !== stall.step) return;
      stall.step = "";
      stall.reached.open();
      await stall.held.passed;
    },
  });
  houses.push(first);
  onTestFinished(async () => {
    stall.held.open();
    for (const house of houses) await house.stop();
  });
  return {
    place: { dev, database, baseUrl: first.baseUrl },
    first,
    faults,
    merchant: await newMerchant(first),
    stallAt(step) {
      stall.step = step;
      return { reached: stall.reached.passed, goOn: stall.held.open };
    },
    async takenOver(what) {
      const holder = async () =>
        (await database.query<{ holder: string | null }>(`SELECT lease_holder AS holder FROM ${what}`))[0]
          ?.holder;
      const before = await holder();
      houses.push(await startHouse(dev, database, { settings }));
      await until(async () => ![before, null].includes(await holder()), `the ${what} changes hands`);
    },
  };
}

const reorged = [
  ...["pending net treasury → available 9950", "pending fee treasury → fees 50"],
  ...["void net treasury → available 9950", "void fee treasury → fees 50"],
  ...["pending net treasury → available 9950", "pending fee treasury → fees 50"],
  ...["post net treasury → available 9950", "post fee treasury → fees 50"],
];

describe("a process that stalls while it credits", () => {
  it("and its block leaves the chain meanwhile: the credit is taken back by the one that took over", async () => {
    const { place, merchant, stallAt, takenOver } = await twoProcesses();
    const paid = await newPayment(place, merchant);
    const stall = stallAt("before-credit");
    const settling = paid.settle();
    await stall.reached;
    await withMiningHeld(place, async () => {
      await takenOver("observer");
      await dev.anvil.rpc("anvil_reorg", [1, []]);
      // the other one wants to take back what is not committed yet: it has to wait
      await new Promise((resolve) => setTimeout(resolve, 500));
      stall.goOn();
      await until(async () => (await claimOf(database, paid.nonce))?.credit_epoch === 1, "it is taken back");
    });
    await expectAtRest(place);
    const { id } = (await claimOf(database, paid.nonce)) ?? { id: "" };
    expect(await ledgerOf(database, id)).toEqual(reorged);
    await settling;
  });

  it("before it has begun: it finds that its view is not its own any more, and credits nothing", async () => {
    const { place, merchant, stallAt, takenOver } = await twoProcesses();
    const paid = await newPayment(place, merchant);
    await expectAtRest(place);
    const settling = paid.settle();
    const stall = stallAt("observed");
    await stall.reached;
    await takenOver("observer");
    await until(async () => (await stateOf(database, paid.nonce)) === "included", "the other one credits");
    await withMiningHeld(place, async () => {
      await dev.anvil.rpc("anvil_reorg", [1, []]);
      await until(async () => (await claimOf(database, paid.nonce))?.credit_epoch === 1, "it is taken back");
      stall.goOn();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await claimOf(database, paid.nonce)).toMatchObject({
        state: "submitting",
        credit_state: "none",
      });
    });
    await settling;
    await expectAtRest(place);
    const { id } = (await claimOf(database, paid.nonce)) ?? { id: "" };
    expect(await ledgerOf(database, id)).toEqual(reorged);
  });
});

describe("a process that stalls before it signs", () => {
  it("drops what it has signed when another one has sent the payment", async () => {
    const { place, merchant, faults, takenOver } = await twoProcesses();
    const before = await transactionsSent(dev);
    const paid = await newPayment(place, merchant);
    const held = gate();
    const reached = gate();
    faults.set({
      fees: (real) => async () => {
        reached.open();
        await held.passed;
        return real.fees();
      },
      // it sees the chain as it was: only its lost lease can stop it
      readAuthorizations: (real) => async (from, items) =>
        (await real.readAuthorizations(from, items)).map((state) => ({
          ...state,
          used: false,
          transfer: { ok: true, data: "0x" },
        })),
    });
    const settling = paid.settle();
    await reached.passed;
    await takenOver("signer");
    await database.query("UPDATE claim SET taken_until = now() WHERE state = 'claimed'"); // its reservation lapses
    await until(async () => (await stateOf(database, paid.nonce)) === "included", "the other one settles it");
    held.open();
    expect((await settling).body).toMatchObject({ success: true });
    await expectAtRest(place);
    expect(await attemptsOf(database, paid.nonce)).toHaveLength(1);
    expect(await transactionsSent(dev)).toBe(before + 1);
  });
});

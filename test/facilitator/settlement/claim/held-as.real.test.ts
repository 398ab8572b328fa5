/** An intent that pays an invoice, while an agent's payment of it is under way. */
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import { payable } from "../../../../facilitator/payable/tables.ts";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claimWriter } from "../../../../facilitator/settlement/claim/claim.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { until } from "../../../support/house.ts";
import { waitingForLocks } from "../../../support/records.ts";
import { payableOf } from "../../payable/shapes.ts";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(() => world.close());

const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);
const idOf = (prefix: string, n: number) => `${prefix}_01K2C0Z000000000000000000${n}`;
const invoice = idOf("inv", 0);
const [intent, other] = [idOf("pi", 0), idOf("pi", 1)];

const of = (id: string, over: object) =>
  payableOf({
    ...{ id, merchantId: "mer_1", url: `https://pay.example/x402/payables/${id}`, once: true, ...over },
  } as never);

/** As settle makes it. */
function claimOf(payableId: string, n: number) {
  const { row } = world;
  const payer = world.payer(tokens.USDC, 1_000n).address;
  const parts = { chainId: row.chainId, nonceDomain: tokens.USDC, payer, nonce: bytes(n) };
  return {
    ...{ ...parts, claimKey: claimKey(parts), id: `stl_${n}`, method: "eip3009", kind: "x402" },
    ...{ merchantId: "mer_1", payableId, token: tokens.USDC, payTo: row.treasury, amount: 10n, fee: 0n },
    ...{ validAfter: 0n, validBefore: 2n ** 40n, signature: `0x${"11".repeat(64)}1b`, payerHasCode: false },
    ...{ fingerprint: bytes(n + 100), state: "claimed", holdsPayable: true },
  } as const satisfies typeof claim.$inferInsert;
}

it("is held, as the invoice is: nobody is asked for a second signature", async () => {
  const { running, database } = world;
  const { facilitator } = running;
  await database.db.tx(async (tx) => {
    await facilitator.project(tx, of(invoice, { kind: "invoice" }));
    await facilitator.project(tx, of(intent, { kind: "payment-intent", heldAs: invoice }));
  });
  const made = claimOf(intent, 1);
  const { claimKey: key } = made;
  // as claim.ts:hold and insertRows leave it
  await database.db.pool.insert(claim).values({ ...made, state: "submitting" });
  await database.db.pool.update(payable).set({ heldBy: key }).where(eq(payable.id, invoice));
  expect(await facilitator.offer({ by: "id", id: invoice })).toMatchObject({
    state: "held",
    paymentId: "stl_1",
  });
  expect(await facilitator.offer({ by: "id", id: intent })).toMatchObject({
    state: "held",
    paymentId: "stl_1",
  });
  // and money that comes another way does not take it, save by the way that the authorization goes
  const { take, leave, lock } = facilitator.once;
  await database.db.tx(async (tx) => {
    await facilitator.project(tx, of(other, { kind: "payment-intent", heldAs: invoice }));
    expect(await take(tx, { payableId: invoice, payment: other })).toBe(false);
    const holder = { by: "authorization", paymentId: "stl_1", isCredited: false };
    expect([await lock(tx, invoice), await lock(tx, intent)]).toEqual([holder, holder]);
    expect(await lock(tx, other)).toBeNull();
    // what has it keeps it, whoever else lets go
    expect(await take(tx, { payableId: invoice, payment: intent })).toBe(true);
    await leave(tx, { payableId: invoice, payment: other });
    expect(await lock(tx, invoice)).toEqual(holder);
    await tx.update(payable).set({ heldBy: null }).where(eq(payable.id, invoice));
    expect(await lock(tx, invoice)).toEqual({ by: "payment" });
    for (const [payment, isTaken] of [
      [intent, true],
      [other, false],
    ] as const)
      expect(await take(tx, { payableId: invoice, payment })).toBe(isTaken);
    await leave(tx, { payableId: invoice, payment: intent });
    // nor what is closed for good; what is paid may be paid again by its own money
    for (const [closedAs, isTaken] of [
      ["void", false],
      ["paid", true],
    ] as const) {
      await facilitator.project(tx, of(invoice, { kind: "invoice", closedAt: new Date(), closedAs }));
      expect(await take(tx, { payableId: invoice, payment: other })).toBe(isTaken);
    }
  });
});

describe("at the same moment as its invoice is taken for money that was sent", () => {
  const asIntent = (id: string) => of(id, { kind: "payment-intent", heldAs: invoice });
  /** Claims in one group, as of agents who pay at once. */
  const claimAll = (ids: readonly string[]) => {
    const write = claimWriter(world.engine);
    return Promise.all(
      ids.map((id, i) => write({ row: claimOf(id, i), once: true, heldAs: invoice, answerIds: [] })),
    );
  };
  const theyWait = () => until(async () => (await waitingForLocks(world)) === 1, "they wait for it");
  beforeEach(() =>
    world.database.db.tx(async (tx) => {
      const { project } = world.running.facilitator;
      await project(tx, of(invoice, { kind: "invoice" }));
      for (const id of [intent, other]) await project(tx, asIntent(id));
    }),
  );

  it("it is not claimed, though another intent's claim came first: neither waits for what the other has", async () => {
    const { claimed } = await world.database.db.tx(async (tx) => {
      await tx.select().from(payable).where(eq(payable.id, other)).for("update");
      const claimed = claimAll([intent, other]);
      await theyWait();
      expect(await world.running.facilitator.once.take(tx, { payableId: invoice, payment: other })).toBe(
        true,
      );
      return { claimed };
    });
    expect(await claimed).toEqual(["held-by-another", "held-by-another"]);
    expect(await world.database.query("SELECT FROM claim")).toEqual([]);
  });

  it("it is not claimed, and what is told of it then waits for no claim", async () => {
    const { project, once } = world.running.facilitator;
    const { claimed } = await world.database.db.tx(async (tx) => {
      expect(await once.take(tx, { payableId: invoice, payment: other })).toBe(true);
      const claimed = claimAll([other]);
      await theyWait();
      await project(tx, asIntent(other));
      return { claimed };
    });
    expect(await claimed).toEqual(["held-by-another"]);
    expect(await world.database.query("SELECT FROM claim")).toEqual([]);
  });
});

/** An intent that pays an invoice, while an agent's payment of it is under way. */
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import { payable } from "../../../../facilitator/payable/tables.ts";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { payableOf } from "../../payable/shapes.ts";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(() => world.close());
const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);

it("is held, as the invoice is: nobody is asked for a second signature", async () => {
  const { running, database, row } = world;
  const { facilitator } = running;
  const invoice = "inv_01K2C0Z0000000000000000000";
  const intent = "pi_01K2C0Z0000000000000000000";
  const of = (id: string, over: object) =>
    payableOf({
      id,
      merchantId: "mer_1",
      url: `https://pay.example/x402/payables/${id}`,
      once: true,
      ...over,
    } as never);
  await database.db.tx(async (tx) => {
    await facilitator.project(tx, of(invoice, { kind: "invoice" }));
    await facilitator.project(tx, of(intent, { kind: "payment-intent", heldAs: invoice }));
  });
  const payer = world.payer(tokens.USDC, 1_000n);
  const parts = { chainId: row.chainId, nonceDomain: tokens.USDC, payer: payer.address, nonce: bytes(1) };
  const key = claimKey(parts);
  // as claim.ts:hold and insertRows leave it
  await database.db.pool.insert(claim).values({
    ...{ claimKey: key, ...parts, method: "eip3009", id: "stl_1", kind: "x402", state: "submitting" },
    ...{
      merchantId: "mer_1",
      payableId: intent,
      token: tokens.USDC,
      payTo: row.treasury,
      amount: 10n,
      fee: 0n,
    },
    ...{ validAfter: 0n, validBefore: 2n ** 40n, signature: `0x${"11".repeat(64)}1b`, payerHasCode: false },
    ...{ fingerprint: bytes(2), holdsPayable: true },
  });
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
  const other = "pi_01K2C0Z0000000000000000001";
  const { take, leave, lock } = facilitator.once;
  await database.db.tx(async (tx) => {
    await facilitator.project(tx, of(other, { kind: "payment-intent", heldAs: invoice }));
    expect(await take(tx, { payableId: invoice, payment: other })).toBe(false);
    const holder = { by: "authorization", paymentId: "stl_1", isCredited: false };
    expect([await lock(tx, invoice), await lock(tx, intent)]).toEqual([holder, holder]);
    expect(await lock(tx, other)).toBeNull();
    expect(await take(tx, { payableId: invoice, payment: intent })).toBe(true);
    await leave(tx, { payableId: invoice, payment: intent });
    await tx.update(payable).set({ heldBy: null }).where(eq(payable.id, invoice));
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

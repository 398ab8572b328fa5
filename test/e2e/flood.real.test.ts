/** Settles that cannot be paid, of every kind, many at once, beside an honest merchant: what can be seen before costs no
 *  gas, and what cannot costs no more than the budget. */
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Hex } from "#kernel/bytes";
import { chainFaults } from "../support/chain-faults.ts";
import { newPayer, type Resource, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { claimOf, ledgerOf, transactionsSent } from "../support/records.ts";
import { cancel, drain, expectAtRest, newPayment, type Payment } from "../support/scene.ts";

vi.setConfig({ testTimeout: 300_000 });

/** Wei: four failures of a lone payment at some two gwei use it up, since they count five-fold. */
const PAYABLE_BUDGET = 2_000_000_000_000_000n;
const EACH = 10;

const faults = chainFaults();
let target: Resource;

const world = sharedWorld({
  wrapChain: faults.wrap,
  gasBudgets: { payable: PAYABLE_BUDGET },
  settings: { maxWaitMs: 60_000, leaseSeconds: 5 },
});
const honest = sharedMerchant(world);
const flooded = sharedMerchant(world);
beforeAll(async () => {
  target = await flooded.register();
});
afterEach(() => faults.clear());

const times = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make));

async function unfunded(): Promise<readonly Payment[]> {
  const payer = await newPayer(world.dev, 0n);
  return times(EACH, () => newPayment(world, flooded, { resource: target, payer }));
}
async function expired(): Promise<readonly Payment[]> {
  const payer = await newPayer(world.dev);
  const terms = { validBefore: BigInt(Math.floor(Date.now() / 1000) - 60) };
  return times(EACH, () => newPayment(world, flooded, { resource: target, payer, terms }));
}
async function zero(): Promise<readonly Payment[]> {
  const payer = await newPayer(world.dev);
  return times(EACH, () => newPayment(world, flooded, { resource: target, payer, terms: { amount: 0n } }));
}
async function cancelled(): Promise<readonly Payment[]> {
  const paid = await newPayment(world, flooded, { resource: target });
  await cancel(world, paid.payer, paid.nonce);
  return Array<Payment>(EACH).fill(paid);
}
async function replayed(): Promise<readonly Payment[]> {
  const paid = await newPayment(world, flooded, { resource: target });
  expect((await paid.settle()).body).toMatchObject({ success: true });
  return Array<Payment>(EACH).fill(paid);
}
/** Valid when it was verified. */
async function drainedAfterVerify(): Promise<readonly Payment[]> {
  const payer = await newPayer(world.dev, 10_000n);
  const all = await times(EACH, () => newPayment(world, flooded, { resource: target, payer }));
  expect((await all[0]?.verify())?.body).toMatchObject({ isValid: true });
  await drain(world, payer);
  return all;
}

/** Wei that our transactions spent on payments of the flooded resource that moved nothing: what the chain says each
 *  transaction took, and its items' equal shares. */
async function gasOfFlood(): Promise<bigint> {
  const rows = await world.database.query<{ tx: Hex; items: string; failed: string }>(
    `SELECT '0x' || encode(slot.mined_tx, 'hex') AS tx, count(*) AS items,
       count(*) FILTER (WHERE claim.payable_id = $1 AND claim.credit_state = 'none') AS failed
     FROM slot JOIN slot_item ON slot_item.slot_id = slot.id JOIN claim ON claim.claim_key = slot_item.claim_key
     WHERE slot.mined_tx IS NOT NULL GROUP BY slot.id`,
    [target.id],
  );
  let wei = 0n;
  for (const { tx, items, failed } of rows) {
    const receipt = await world.dev.anvil.rpc<{ gasUsed: Hex; effectiveGasPrice: Hex }>(
      "eth_getTransactionReceipt",
      [tx],
    );
    wei += (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) * BigInt(failed)) / BigInt(items);
  }
  return wei;
}

describe("a flood of settles that anybody can see to fail", () => {
  it("costs no transaction and no gas, and the honest merchant's payments settle beside it", async () => {
    const classes = { unfunded, expired, zero, cancelled, replayed, drainedAfterVerify };
    const prepared: [string, readonly Payment[]][] = [];
    for (const [name, prepare] of Object.entries(classes)) prepared.push([name, await prepare()]);
    await expectAtRest(world);
    const sent = await transactionsSent(world.dev);
    const good = await times(5, () => newPayment(world, honest));
    const [answers, floods] = await Promise.all([
      Promise.all(good.map((paid) => paid.settle())),
      Promise.all(
        prepared.map(
          async ([name, payments]) =>
            [name, await Promise.all(payments.map((paid) => paid.settle()))] as const,
        ),
      ),
    ]);
    for (const { body } of answers) expect(body).toMatchObject({ success: true });
    const reasons = Object.fromEntries(
      floods.map(([name, each]) => {
        expect(each.every(({ body }) => body.success === false)).toBe(true);
        return [name, [...new Set(each.map(({ body }) => body.errorReason))]];
      }),
    );
    expect(reasons).toEqual({
      unfunded: ["insufficient_funds"],
      expired: ["invalid_exact_evm_payload_authorization_valid_before"],
      zero: ["invalid_exact_evm_payload_authorization_value_mismatch"],
      cancelled: ["invalid_exact_evm_nonce_already_used"],
      replayed: ["duplicate_settlement"],
      drainedAfterVerify: ["insufficient_funds"],
    });
    await expectAtRest(world);
    // every transaction carries honest payments only
    const [row] = await world.database.query<{ slots: string }>(
      `SELECT count(DISTINCT slot_item.slot_id) AS slots FROM slot_item JOIN claim ON claim.claim_key = slot_item.claim_key
       WHERE claim.merchant_id = $1`,
      [honest.id],
    );
    expect(await transactionsSent(world.dev)).toBe(sent + Number(row?.slots));
    expect(await gasOfFlood()).toBe(0n);
  });
});

describe("a flood of payers who spend their money between our signature and the block", () => {
  it("burns no more than the resource's budget, then it is refused; the honest merchant's payments settle", async () => {
    const codes: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const paid = await newPayment(world, flooded, { resource: target });
      faults.set({
        send: (real) => async (raw) => {
          faults.clear();
          await drain(world, paid.payer);
          return real.send(raw);
        },
      });
      const { status, body } = await paid.settle();
      faults.clear();
      codes.push(`${status} ${body.errorReason} ${body.budget ?? ""}`.trim());
      if (status === 429) expect(await claimOf(world.database, paid.nonce)).toBeNull();
      else
        await until(
          async () => {
            const [row] = await world.database.query(
              "SELECT 1 FROM payer_gas WHERE payer = decode($1, 'hex')",
              [paid.payer.address.slice(2)],
            );
            return row !== undefined;
          },
          "its gas is booked",
          60_000,
        );
    }
    const refused = "429 unexpected_settle_error payable";
    expect(codes[0]).toBe("200 insufficient_funds");
    // Near its end the budget may refuse one and take the next: what is under way is remembered for a second.
    expect([...new Set(codes)].sort()).toEqual(["200 insufficient_funds", refused]);
    expect(codes.at(-1)).toBe(refused);
    // what it cost, by the chain: something, and within the budget even as it counts
    const wei = await gasOfFlood();
    expect(wei).toBeGreaterThan(0n);
    expect(wei).toBeLessThan(PAYABLE_BUDGET);
    const good = await newPayment(world, honest);
    const { body } = await good.settle();
    expect(body).toMatchObject({ success: true });
    await expectAtRest(world);
    expect(await ledgerOf(world.database, body.extra.paymentId)).toHaveLength(4);
  });
});

/** Gas budgets, on rows and real transactions: what is booked, who is refused, and that nothing of it was claimed. */
import { afterEach, describe, expect, it } from "vitest";
import { PAYMENT_GAS } from "../../../../facilitator/chain/gas-budgets.ts";
import { bookGas } from "../../../../facilitator/settlement/budget/burn.ts";
import { projectPayable, signRequired } from "../../../mcp/world.ts";
import { chainFaults } from "../../../support/chain-faults.ts";
import { failOnChain, gasOf, gasRows, housesBeside } from "../../../support/gas.ts";
import { gate } from "../../../support/gate.ts";
import {
  type HouseOptions,
  newPayer,
  type Payer,
  type RunningHouse,
  sharedMerchant,
  sharedWorld,
  until,
} from "../../../support/house.ts";
import { claimOf, ledgerOf, stateOf, transactionsSent } from "../../../support/records.ts";
import { expectAtRest, newPayment, type Payment, submitAsStranger } from "../../../support/scene.ts";

const faults = chainFaults();
const refusals: string[] = [];

const world = sharedWorld({ wrapChain: faults.wrap });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const meter = {
  count: (name: string, labels: Readonly<Record<string, string>> = {}) =>
    void (name === "gas_refusals" && refusals.push(labels.budget ?? "")),
  time: () => {},
};
const houseBeside = housesBeside(world);
const houseWith = (gasBudgets: HouseOptions["gasBudgets"], wrapChain?: HouseOptions["wrapChain"]) =>
  houseBeside(gasBudgets, { meter, ...(wrapChain && { wrapChain }) });
const payment = (given: Parameters<typeof newPayment>[2] = {}) => newPayment(world, merchant, given);

const { burnOf, payerGasOf } = gasRows(world);
const fail = (paid: Payment) => failOnChain(world, faults, paid);

/** Refused at verify and at settle, before anything was claimed or sent. */
async function expectRefused(paid: Payment, house: RunningHouse, budget: string): Promise<void> {
  const before = await transactionsSent(world.dev);
  const from = refusals.length;
  const verified = await paid.verify(house.baseUrl);
  expect(verified).toMatchObject({
    status: 429,
    body: { code: "rate_limited", budget, isValid: false, invalidReason: "unexpected_verify_error" },
  });
  const settled = await paid.settle({}, house.baseUrl);
  expect(settled).toMatchObject({
    status: 429,
    body: {
      code: "rate_limited",
      budget,
      success: false,
      errorReason: "unexpected_settle_error",
      transaction: "",
    },
  });
  for (const { headers, body } of [verified, settled]) {
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(body.detail).toMatch(/This call charged nothing; send the same payment again in \d+ seconds\./);
  }
  expect(refusals.slice(from)).toEqual([budget, budget]);
  expect(await claimOf(world.database, paid.nonce)).toBeNull();
  expect(await transactionsSent(world.dev)).toBe(before);
}

describe("what is burned", () => {
  it("is booked once with its payer, payable, merchant and chain, and is what the chain took", async () => {
    const chainBefore = (await burnOf(""))?.wei ?? 0n;
    const paid = await payment();
    const { body } = await paid.settle();
    expect(body).toMatchObject({ success: true });
    await expectAtRest(world);
    const wei = await gasOf(world.dev, body.transaction);
    expect(await burnOf(paid.resource.id)).toEqual({ wei, wasted: 0n, items: 1 });
    expect((await burnOf(""))?.wei).toBe(chainBefore + wei);
    expect(await payerGasOf(paid.payer)).toEqual({
      wei,
      wasted_wei: 0n,
      failures: 0,
      has_paid: true,
      rests: false,
    });
    // not once more, whoever asks again
    const [slot] = await world.database.query<{ id: string }>(
      "SELECT slot_id AS id FROM attempt WHERE tx_hash = decode($1, 'hex')",
      [body.transaction.slice(2)],
    );
    const engine = { loopDb: world.database.db, meter: { count: () => {}, time: () => {} } };
    await bookGas(engine, "local", [slot?.id ?? ""]);
    expect(await burnOf(paid.resource.id)).toEqual({ wei, wasted: 0n, items: 1 });
    // and the books know of the same gas
    const [booked] = await world.database.query<{ amount: string }>(
      `SELECT transfer.amount FROM ledger_transfer AS transfer WHERE transfer.event_key LIKE 'gas:%' ORDER BY posted_at DESC LIMIT 1`,
    );
    expect(BigInt(booked?.amount ?? 0)).toBe(wei);
    expect(await ledgerOf(world.database, body.extra.paymentId)).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  });

  it("counts five-fold when it failed, in no ledger row", async () => {
    const bad = await payment();
    await fail(bad);
    await until(async () => (await payerGasOf(bad.payer)) !== undefined, "its gas is booked");
    const burned = await payerGasOf(bad.payer);
    expect(burned).toMatchObject({ failures: 1, has_paid: false, rests: false });
    expect(burned?.wasted_wei).toBe(burned?.wei);
    expect(await ledgerOf(world.database, (await claimOf(world.database, bad.nonce))?.id ?? "")).toEqual([]);
    // four times what it cost, and one more payment's worth: too little for what counts five-fold
    const house = await houseWith({ newPayer: 5n * (burned?.wei ?? 0n) });
    await world.dev.administer("mint", [bad.payer.address, 10_000n]);
    await expectRefused(await payment({ payer: bad.payer }), house, "payer");
    await expectAtRest(world);
  });

  it("is no failure of the payer where a stranger's transaction made the payment first", async () => {
    const paid = await payment();
    faults.set({
      send: (real) => async (raw) => {
        faults.clear();
        await submitAsStranger(world, paid.signed.call);
        return real.send(raw);
      },
    });
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
    const burned = await payerGasOf(paid.payer);
    expect(burned).toMatchObject({ failures: 0, has_paid: true });
    expect(burned?.wasted_wei).toBe(burned?.wei);
    expect(burned?.wei).toBeGreaterThan(0n);
  });
});

describe("the tip", () => {
  it("stays what was enough for our last transaction while others give a thousand times as much", async () => {
    const first = await (await payment()).settle();
    expect(first.body).toMatchObject({ success: true });
    await expectAtRest(world);
    const tipOf = async (transaction: string) => {
      const [row] = await world.database.query<{ tip: string }>(
        "SELECT tip FROM attempt WHERE tx_hash = decode($1, 'hex')",
        [transaction.slice(2)],
      );
      return BigInt(row?.tip ?? 0);
    };
    const { address: stranger } = await newPayer(world.dev);
    await world.dev.anvil.rpc("anvil_setBalance", [stranger, "0xde0b6b3a7640000"]);
    await world.dev.anvil.rpc("anvil_impersonateAccount", [stranger]);
    for (let block = 0; block < 6; block += 1)
      await world.dev.anvil.rpc("eth_sendTransactionSync", [
        {
          from: stranger,
          to: stranger,
          maxPriorityFeePerGas: "0x174876e800",
          maxFeePerGas: "0x2e90edd000",
        },
      ]);
    expect((await world.dev.chain.fees()).maxPriorityFeePerGas).toBe(100_000_000_000n);
    const { body } = await (await payment()).settle();
    expect(body).toMatchObject({ success: true });
    const tip = await tipOf(body.transaction);
    expect(tip).toBeGreaterThan(0n);
    expect(tip).toBe(await tipOf(first.body.transaction));
    await expectAtRest(world);
  });
});

describe("a budget that is used up", () => {
  for (const budget of ["payable", "merchant", "chain"] as const)
    it(`of the ${budget}: verify and settle answer 429 with a time to wait, and nothing is claimed`, async () => {
      const first = await payment();
      expect((await first.settle()).body).toMatchObject({ success: true });
      await until(async () => (await burnOf(first.resource.id)) !== undefined, "its gas is booked");
      const subject = { payable: first.resource.id, merchant: merchant.id, chain: "" }[budget];
      const { wei = 0n } = (await burnOf(subject)) ?? {};
      const next = await payment({ resource: first.resource });
      await expectRefused(next, await houseWith({ [budget]: wei }), budget);
      // what is wide enough takes the very same payment
      expect((await next.settle()).body).toMatchObject({ success: true });
      await expectAtRest(world);
    });

  for (const budget of ["newPayer", "payable"] as const)
    it(`of a ${budget}: of many at once, when the fee has just jumped, only so many are claimed as there is room for`, async () => {
      const fee = 40_000_000_000n;
      const house = await houseWith({ [budget]: (7n * PAYMENT_GAS * fee) / 2n });
      const resource = await merchant.register();
      const one = await newPayer(world.dev);
      const payers = Array.from({ length: 12 }, () => (budget === "newPayer" ? one : newPayer(world.dev)));
      const all = await Promise.all(payers.map(async (payer) => payment({ payer: await payer, resource })));
      // Nothing of ours was sent at that fee so far.
      await world.dev.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
      await world.dev.anvil.rpc("anvil_mine", ["0x1"]);
      const answers = await Promise.all(all.map((each) => each.settle({}, house.baseUrl)));
      const settled = answers.filter(({ body }) => body.success === true);
      expect(settled.length).toBeGreaterThan(0);
      expect(settled.length).toBeLessThanOrEqual(3);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(12 - settled.length);
      for (const { body } of refused)
        expect(body).toMatchObject({ budget: budget === "newPayer" ? "payer" : budget });
      await expectAtRest(world);
      const claims = await Promise.all(all.map(({ nonce }) => claimOf(world.database, nonce)));
      expect(claims.filter((claim) => claim !== null)).toHaveLength(settled.length);
    });

  it("of a new payer: a payment that was claimed while another one was looked at leaves it no room", async () => {
    const fee = 40_000_000_000n;
    const slow = chainFaults();
    const house = await houseWith({ newPayer: (5n * PAYMENT_GAS * fee) / 4n }, slow.wrap);
    const [payer, resource] = [await newPayer(world.dev), await merchant.register()];
    // The tip of a transaction that was mined is known: one that is not would count as much as the fee.
    expect((await (await payment({ resource })).settle()).body).toMatchObject({ success: true });
    await until(async () => (await burnOf(resource.id)) !== undefined, "its gas is booked");
    const [late, quick] = [await payment({ payer, resource }), await payment({ payer, resource })];
    await world.dev.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
    await world.dev.anvil.rpc("anvil_mine", ["0x1"]);
    const [reached, held] = [gate(), gate()];
    slow.set({
      haveCode: (real) => async (accounts) => {
        slow.clear();
        reached.open();
        await held.passed;
        return real.haveCode(accounts);
      },
    });
    const refused = late.settle({}, house.baseUrl);
    await reached.passed;
    const settled = quick.settle({}, house.baseUrl);
    await until(async () => (await claimOf(world.database, quick.nonce)) !== null, "it is claimed");
    held.open();
    expect(await refused).toMatchObject({ status: 429, body: { budget: "payer" } });
    expect((await settled).body).toMatchObject({ success: true });
    await expectAtRest(world);
    expect(await claimOf(world.database, late.nonce)).toBeNull();
  });

  it("of a payer that has failed: eight are under way at once, and the next is told to come back", async () => {
    const payer = await newPayer(world.dev, 0n);
    await world.dev.administer("mint", [payer.address, 10_000n]);
    await fail(await payment({ payer }));
    await until(async () => (await payerGasOf(payer))?.failures === 1, "its failure is booked");
    await world.dev.administer("mint", [payer.address, 90_000n]);
    const held = gate();
    faults.set({
      send: (real) => async (raw) => {
        await held.passed;
        return real.send(raw);
      },
    });
    const all = await Promise.all(Array.from({ length: 9 }, () => payment({ payer })));
    const ended = all.map((each) => each.settle());
    const first = await Promise.race(ended);
    expect(first).toMatchObject({ status: 429, body: { budget: "open" } });
    held.open();
    const answers = await Promise.all(ended);
    expect(answers.filter(({ body }) => body.success === true)).toHaveLength(8);
    await expectAtRest(world);
    const claims = await Promise.all(all.map(({ nonce }) => claimOf(world.database, nonce)));
    expect(claims.filter((claim) => claim !== null)).toHaveLength(8);
    // what was refused goes once there is room
    const late = all[claims.indexOf(null)];
    expect((await late?.settle())?.body).toMatchObject({ success: true });
    await expectAtRest(world);
  });

  it("refuses no payment that a stranger has made already: no gas is needed for it", async () => {
    const house = await houseWith({ chain: 1n });
    const paid = await payment();
    await submitAsStranger(world, paid.signed.call);
    expect((await paid.settle({}, house.baseUrl)).body).toMatchObject({ success: true });
    await expectAtRest(world);
  });

  it("does not stand in the way of asking again for a payment that is under way or done", async () => {
    const id = { "Idempotency-Key": "a settle that is repeated" };
    const paid = await payment();
    expect((await paid.settle(id)).body).toMatchObject({ success: true });
    const house = await houseWith({ chain: 1n });
    expect(await paid.settle(id, house.baseUrl)).toMatchObject({ status: 200, body: { success: true } });
    expect(await paid.settle({}, house.baseUrl)).toMatchObject({ status: 409 });
  });
});

/** Three payments of it, each failed; it has money for one more. */
async function failThrice(payer: Payer): Promise<Payment[]> {
  const failed: Payment[] = [];
  for (const failures of [1, 2, 3]) {
    await world.dev.administer("mint", [payer.address, 10_000n]);
    const paid = await payment({ payer });
    await fail(paid);
    failed.push(paid);
    await until(
      async () => (await payerGasOf(payer))?.failures === failures,
      `failure ${failures} is booked`,
    );
  }
  expect(await payerGasOf(payer)).toMatchObject({ rests: true });
  await world.dev.administer("mint", [payer.address, 10_000n]);
  return failed;
}

/** The hour in which it failed is over. */
async function letRest({ address }: Payer): Promise<void> {
  await world.database.query(
    "UPDATE payer_gas SET since = since - interval '1 hour', rest_until = rest_until - interval '1 hour' WHERE payer = decode($1, 'hex')",
    [address.slice(2)],
  );
}

describe("a payer whose payments fail", () => {
  it("rests for an hour after the third, on every process, and pays again when the hour is over", async () => {
    const payer = await newPayer(world.dev, 0n);
    await failThrice(payer);
    const next = await payment({ payer });
    await expectRefused(next, await houseWith({}), "rest");
    await letRest(payer);
    expect((await next.settle()).body).toMatchObject({ success: true });
    await until(async () => (await payerGasOf(payer))?.has_paid === true, "its gas is booked");
    expect(await payerGasOf(payer)).toMatchObject({ failures: 0, rests: false });
    expect(await stateOf(world.database, next.nonce)).not.toBe("failed-watch");
    await expectAtRest(world);
  });

  it("is told of one that is sent again how it failed and when to come again, not that nothing was charged", async () => {
    const payer = await newPayer(world.dev, 0n);
    const [first] = await failThrice(payer);
    if (!first) throw new Error("three failed");
    const failed = await claimOf(world.database, first.nonce);
    const sent = await transactionsSent(world.dev);
    const again = await first.settle({}, (await houseWith({})).baseUrl);
    expect(again).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "insufficient_funds", extra: { chargeable: true } },
    });
    expect(again.body.transaction).toMatch(/^0x/);
    expect(again.body.extra.paymentId).toBe(failed?.id);
    const seconds = again.body.extra.retryAfterSeconds;
    expect(seconds).toBeGreaterThan(3_000);
    expect(again.headers.get("retry-after")).toBe(String(seconds));
    expect(again.body.errorMessage).toContain(`Send the same payment again in ${seconds} seconds.`);
    expect(refusals.at(-1)).toBe("rest");
    expect(await claimOf(world.database, first.nonce)).toEqual(failed);
    expect(await transactionsSent(world.dev)).toBe(sent);
    await letRest(payer);
    expect((await first.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
    expect(await ledgerOf(world.database, failed?.id ?? "")).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  });
});

describe("an agent URL", () => {
  it("answers 429 with a time to wait, not that the outcome is unknown", async () => {
    const house = await houseWith({ chain: 1n });
    const { id } = await projectPayable(world, merchant.id, { kind: "invoice" });
    const url = `${house.baseUrl}/x402/payables/${id}`;
    const toBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
    const challenge = (await fetch(url)).headers.get("payment-required") ?? "";
    const payer = await newPayer(world.dev);
    const signed = await signRequired(payer, JSON.parse(Buffer.from(challenge, "base64").toString()));
    const answer = await fetch(url, { headers: { "PAYMENT-SIGNATURE": toBase64(signed) } });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: "rate_limited", budget: "chain" });
    expect(await world.database.query("SELECT 1 FROM claim WHERE payable_id = $1", [id])).toEqual([]);
  });
});

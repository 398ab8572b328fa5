import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { books, newPayer, post, sharedMerchant, sharedWorld, signPayment, until } from "../support/house.ts";
import { type ServiceProcess, startProcess } from "../support/processes.ts";

const world = sharedWorld({ blockTimeSeconds: 1 });
const merchant = sharedMerchant(world);
let other: ServiceProcess;
beforeAll(async () => {
  other = await startProcess(world.dev, world.database);
});
afterAll(async () => {
  await other.stop();
});

describe("200 settles of one authorization at once, over two processes", () => {
  it("one transaction, one credit, one success; everybody else is told of the original", async () => {
    // given one signed payment
    const before = await books(world.dev, world.database);
    const resource = await merchant.register();
    const { body } = await signPayment(world.dev, await newPayer(world.dev), resource);
    const path = `/x402/resources/${resource.id}/settle`;
    // when two processes get it a hundred times each
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => post(i % 2 === 0 ? world.baseUrl : other.baseUrl, path, body)),
    );
    // then one caller is told of success
    const [success, ...more] = answers.filter(({ body: { success } }) => success);
    expect(more).toEqual([]);
    const { transaction } = success?.body ?? {};
    expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
    // and all others of the original transaction, none of a failure
    const others = answers
      .filter((answer) => answer !== success)
      .map(({ status, body: told }) => [status, told.errorReason, told.transaction]);
    expect(others).toEqual(others.map(() => [409, "duplicate_settlement", transaction]));
    // and one credit is in the books, one transaction on the chain
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({
      balanced: true,
      chain: before.chain + 10_000n,
      treasury: before.treasury + 10_000n,
    });
    expect(await world.database.query("SELECT count(*)::int AS slots FROM slot_item")).toEqual([
      { slots: 1 },
    ]);
    expect(
      await world.database.query(
        "SELECT count(*)::int AS credits FROM ledger_transfer WHERE code = 'x402-credited' AND phase = 'pending'",
      ),
    ).toEqual([{ credits: 2 }]);
  });
});

describe("64 different authorizations at once on one gas key", () => {
  it("all settle, and each is credited once", async () => {
    const before = await books(world.dev, world.database);
    const resource = await merchant.register();
    const payers = await Promise.all(Array.from({ length: 64 }, () => newPayer(world.dev, 10_000n)));
    const payments = await Promise.all(payers.map((payer) => signPayment(world.dev, payer, resource)));
    const answers = await Promise.all(
      payments.map(({ body }) => post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body)),
    );
    expect(answers.filter(({ status, body }) => status !== 200 || !body.success)).toEqual([]);
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({
      balanced: true,
      chain: before.chain + 640_000n,
      treasury: before.treasury + 640_000n,
    });
    // and after finality every merchant's part is spendable
    const posted = async () => (await books(world.dev, world.database)).available;
    await until(async () => (await posted()).pending === 0n, "everything is final");
    expect((await posted()).posted - before.available.posted - before.available.pending).toBe(64n * 9_950n);
  });
});

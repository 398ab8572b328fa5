/** What a gas key has sent that left FAREBOX_SIGNER_KEYS before it was final. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { type DevChain, startDevChain } from "../../../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse, until } from "../../../support/house.ts";
import { attemptsOf, claimOf, ledgerOf, stateOf } from "../../../support/records.ts";
import { expectAtRest, newPayment, type Payment, withMiningHeld } from "../../../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;
let house: RunningHouse;

beforeEach(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
  house = await startHouse(dev, database, { settings: { maxWaitMs: 500 } });
});
afterEach(async () => {
  await house?.stop();
  await database?.drop();
  await dev?.stop();
});

const place = () => ({ dev, database, baseUrl: house.baseUrl });
const signer = (index: number) => {
  const found = dev.contracts.signers[index];
  if (!found) throw new Error("no such gas key");
  return found;
};
const openSlots = () => database.query("SELECT FROM slot WHERE open");

/** A payment that the first key has signed and sent, and that no pool knows any more; then another key has its place. */
async function sentByRemovedKey(): Promise<Payment> {
  const payment = await newPayment(place(), await newMerchant(house));
  await withMiningHeld(place(), async () => {
    expect((await payment.settle()).body).toMatchObject({ errorReason: "settlement_pending" });
    await house.stop();
    const [sent] = await attemptsOf(database, payment.nonce);
    await dev.anvil.rpc("anvil_dropTransaction", [sent?.tx_hash]);
  });
  house = await startHouse(dev, database, { signerKeys: [signer(1).privateKey] });
  return payment;
}

async function minedUntilFinal({ nonce }: Payment): Promise<void> {
  await until(async () => {
    await dev.anvil.mine();
    return (await stateOf(database, nonce)) === "final" && (await openSlots()).length === 0;
  }, "it is final, and its transaction is closed");
}

it("is sent again as it is, closed when it is final, and its gas is booked", async () => {
  const payment = await sentByRemovedKey();
  const sent = await attemptsOf(database, payment.nonce);
  await minedUntilFinal(payment);
  expect(await attemptsOf(database, payment.nonce)).toEqual(sent);
  expect(await claimOf(database, payment.nonce)).toMatchObject({ included_tx: sent[0]?.tx_hash });
  await expectPaidOnce(payment);
  expect(await database.query("SELECT FROM ledger_transfer WHERE code = 'gas-spent'")).toHaveLength(1);
  await expectAtRest(place());
  // and whoever is given the key need not wait for it
  const [{ lease_until } = {}] = await database.query(
    "SELECT lease_until FROM signer WHERE address = decode($1, 'hex')",
    [signer(0).address.slice(2)],
  );
  expect(lease_until).toBeNull();
});

it("is sent by another key once whoever else has the removed one has used its nonce", async () => {
  const payment = await sentByRemovedKey();
  const thief = signer(0).address;
  await dev.transact(thief, { to: thief, data: "0x" } as never);
  await minedUntilFinal(payment);
  await expectPaidOnce(payment);
  const lanes = await database.query<{ address: string; state: string }>(
    "SELECT '0x' || encode(address, 'hex') AS address, state FROM signer ORDER BY state",
  );
  expect(lanes).toEqual([
    { address: signer(1).address.toLowerCase(), state: "active" },
    { address: thief.toLowerCase(), state: "quarantined" },
  ]);
  await expectAtRest(place());
});

async function expectPaidOnce({ nonce, settle }: Payment): Promise<void> {
  expect((await settle({}, house.baseUrl)).body).toMatchObject({ success: true });
  const paid = await claimOf(database, nonce);
  expect(await ledgerOf(database, paid?.id ?? "")).toEqual([
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ]);
}

/** Tokens that join the list of a chain that is followed already, or leave it for a while. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { address, checksum } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { chainFaults } from "../../../support/chain-faults.ts";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { type DevChain, startDevChain } from "../../../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse, until } from "../../../support/house.ts";
import { claimOf, ledgerOf, stateOf } from "../../../support/records.ts";
import { newPayment, submitAsStranger } from "../../../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;
beforeAll(async () => {
  dev = await startDevChain();
});
afterAll(() => dev?.stop());
beforeEach(async () => {
  database = await freshDatabase();
  return () => database.drop();
});

/** A process that does not list this token. */
function startWithout(symbol: string): Promise<RunningHouse> {
  const assets = (dev.config.assets ?? []).filter((asset) => asset.symbol !== symbol);
  return startHouse({ ...dev, config: { ...dev.config, assets } }, database);
}

/** Mines until the process has followed so many blocks more than there are now. */
async function followed(blocks: number): Promise<void> {
  const { number } = await dev.chain.head();
  await until(async () => {
    await dev.anvil.mine();
    const [row] = await database.query<{ at: string }>("SELECT cursor_number AS at FROM observer");
    return Number(row?.at) >= number + blocks;
  }, "the chain is followed");
}

const openings = (symbol = "EURC") =>
  database.query("SELECT amount FROM ledger_transfer WHERE event_key = $1", [
    `treasury-opening:${symbol}@local`,
  ]);

/** How books and chain compare whenever a process has looked. */
const comparisons = (asset: string) =>
  database.query("SELECT status, ledger, on_chain FROM reconciliation WHERE asset = $1 ORDER BY id", [asset]);

it("what the treasury held of a token when it was listed opens its books", async () => {
  const before = await startWithout("EURC");
  await followed(1);
  await before.stop();
  // given that somebody has sent some of it while nobody looked
  const eurc = address(dev.contracts.assets.EURC);
  await dev.administer("mint", [dev.contracts.treasury.address, 7n], eurc);
  const after = await startHouse(dev, database);
  await until(async () => {
    await dev.anvil.mine();
    return (await openings()).length > 0;
  }, "it is followed");
  await after.stop();
  expect(await openings()).toEqual([{ amount: "7" }]);
  // then books and chain are equal for whoever compares them next
  const later = await startHouse(dev, database);
  try {
    await until(async () => {
      await dev.anvil.mine();
      return (await comparisons("EURC@local")).length > 0;
    }, "it is compared");
    expect(await comparisons("EURC@local")).toEqual([{ status: "equal", ledger: "7", on_chain: "7" }]);
  } finally {
    await later.stop();
  }
});

it("a contract that does not say what the treasury holds is asked once at each block, and holds nothing up", async () => {
  const before = await startWithout("EURC");
  await followed(1);
  await before.stop();
  const eurc = address(dev.contracts.assets.EURC);
  let [looks, asked] = [0, 0];
  const faults = chainFaults();
  faults.set({
    head: (real) => () => {
      looks += 1;
      return real.head();
    },
    tokenBalance: (real) => (token, account, block) => {
      if (token !== eurc) return real.tokenBalance(token, account, block);
      asked += 1;
      return Promise.reject(fault("chain_unavailable", { chain: "local" }));
    },
  });
  const after = await startHouse(dev, database, { wrapChain: faults.wrap });
  try {
    await until(async () => asked > 0, "it is asked");
    const seen = looks;
    await until(async () => looks > seen + 10, "the head is looked at again and again");
    expect(asked).toBe(2); // at the final block and at the cursor
    const paid = await newPayment({ dev, database, baseUrl: after.baseUrl }, await newMerchant(after));
    expect((await paid.settle()).body).toMatchObject({ success: true });
    expect(await openings()).toEqual([]);
  } finally {
    await after.stop();
  }
});

it("an address that is no token's does not keep a chain from being followed for the first time", async () => {
  const wrong = { symbol: "EURC", contract: "0xcA11bde05977b3631167028862bE2a173976CA11" };
  const assets = (dev.config.assets ?? []).map((asset) => (asset.symbol === "EURC" ? wrong : asset));
  const house = await startHouse({ ...dev, config: { ...dev.config, assets } }, database);
  try {
    const refused = house.house.facilitator.refusedRails();
    expect(refused).toMatchObject([
      { asset: "EURC", problem: expect.stringContaining("expected the symbol") },
    ]);
    await followed(1);
    const paid = await newPayment({ dev, database, baseUrl: house.baseUrl }, await newMerchant(house));
    expect((await paid.settle()).body).toMatchObject({ success: true });
    expect(await openings()).toEqual([]);
  } finally {
    await house.stop();
  }
});

it("an authorization that was used before its token was listed pays for nothing: its money opened the books", async () => {
  // given one that a stranger submits while nobody looks at its token
  const before = await startWithout("USDC");
  const merchant = await newMerchant(before);
  const registered = await merchant.register();
  const usdc = { asset: "USDC", contract: checksum(dev.usdc), payTo: dev.config.treasury, domain: {} };
  const resource = { ...registered, accepts: [usdc] };
  const place = { dev, database, baseUrl: before.baseUrl };
  const paid = await newPayment(place, merchant, { resource });
  await submitAsStranger(place, paid.signed.call);
  const { number } = await dev.chain.head();
  await followed(1);
  await before.stop();
  // when it is sent to us after the token was listed, on a chain whose blocks take long to be final
  const after = await startHouse(dev, database, { settings: { maxWaitMs: 500 } });
  try {
    await until(async () => {
      await dev.anvil.mine();
      return (await openings("USDC")).length > 0;
    }, "the token is followed");
    await database.query("UPDATE observer SET finalized_number = $1", [number]);
    let told: Awaited<ReturnType<typeof paid.settle>> | undefined;
    await until(async () => {
      told = await paid.settle({}, after.baseUrl);
      return told.status !== 503;
    }, "payments in it are taken");
    // then it is a used one, and no claim is made that nothing would ever pay
    expect(told?.body).toMatchObject({ errorReason: "invalid_exact_evm_nonce_already_used" });
    expect(await claimOf(database, paid.nonce)).toBeNull();
    const held = await dev.chain.tokenBalance(dev.usdc, address(dev.config.treasury), "latest");
    expect(await openings("USDC")).toEqual([{ amount: `${held}` }]);
  } finally {
    await after.stop();
  }
});

it("a payment that is mined while its token is not listed is credited when it is listed again", async () => {
  const before = await startHouse(dev, database, { settings: { maxWaitMs: 500 } });
  const merchant = await newMerchant(before);
  const paid = await newPayment({ dev, database, baseUrl: before.baseUrl }, merchant);
  await dev.anvil.rpc("evm_setAutomine", [false]);
  expect((await paid.settle()).body).toMatchObject({ errorReason: "settlement_pending" });
  await until(async () => (await stateOf(database, paid.nonce)) === "submitting", "it is sent");
  await before.stop();
  const without = await startWithout("USDC");
  await dev.anvil.rpc("evm_setAutomine", [true]);
  await followed(5);
  expect(await stateOf(database, paid.nonce)).toBe("submitting");
  await without.stop();
  const after = await startHouse(dev, database);
  try {
    await until(async () => {
      await dev.anvil.mine();
      return (await stateOf(database, paid.nonce)) === "final";
    }, "it is credited for good");
    const { id = "" } = (await claimOf(database, paid.nonce)) ?? {};
    expect(await ledgerOf(database, id)).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  } finally {
    await after.stop();
  }
});

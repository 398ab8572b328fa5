/** Another treasury in the configuration of a chain whose money went to the one before. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { address, checksum, type Hex } from "#kernel/bytes";
import { ConfigProblem } from "../../src/config.ts";
import { newKey } from "../support/authorization.ts";
import { sharedDatabase } from "../support/db.ts";
import { openOrder } from "../support/deposits.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { type HouseOptions, newMerchant, type RunningHouse, startHouse, until } from "../support/house.ts";
import { stateOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

const SETTINGS = { maxWaitMs: 500 };
const database = sharedDatabase();
let dev: DevChain;
let other: DevChain;
beforeAll(async () => {
  dev = await startDevChain();
  other = withTreasury(newKey());
});
afterAll(async () => {
  await dev?.stop();
});

function withTreasury({ address: at, key: privateKey }: ReturnType<typeof newKey>): DevChain {
  const treasury = { address: checksum(at) as Hex, privateKey };
  return {
    ...dev,
    config: { ...dev.config, treasury: treasury.address },
    contracts: { ...dev.contracts, treasury },
  };
}

async function withHouse<T>(on: DevChain, work: (running: RunningHouse) => Promise<T>): Promise<T> {
  const running = await startHouse(on, database, { settings: SETTINGS });
  try {
    return await work(running);
  } finally {
    await running.stop();
  }
}

/** The line of a start that is refused, and that it changed nothing. */
async function refusalOf(on: DevChain, role: HouseOptions["role"] = "all"): Promise<string> {
  const before = await rows();
  const start = startHouse(on, database, { role, settings: SETTINGS });
  const problem = await start.then(
    (running) => running.stop().then(() => null),
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(ConfigProblem);
  expect(await rows()).toEqual(before);
  const { message } = problem as ConfigProblem;
  expect(message).toMatch(/^[^\n]+$/);
  return message;
}

const rows = () =>
  database.query(`SELECT encode(address, 'hex') AS treasury, (SELECT count(*) FROM claim) AS claims,
    (SELECT count(*) FROM attempt) AS attempts, (SELECT count(*) FROM ledger_transfer) AS transfers FROM chain_treasury`);
const recorded = async () => (await rows()).map(({ treasury }) => treasury);
const bytesOf = ({ config }: DevChain) => config.treasury.slice(2).toLowerCase();

/** The line that refuses the other treasury. */
const refused = (what: string) => {
  const [from, to] = [dev.config.treasury, other.config.treasury];
  return `FAREBOX_CHAINS, local: the treasury cannot become ${to} while something of ${from} is left (${what}). Put ${from} back and wait until what is open has ended; pay out what lies there, or move it to the new one and wait until that is final; then stop every process and change it.`;
};

const placeOf = (running: RunningHouse, on = dev) => ({ ...running, dev: on, database });
const automine = (isOn: boolean) => dev.anvil.rpc("evm_setAutomine", [isOn]);

it("is refused in every role while a payment to the old one is open; with that one back it is credited", async () => {
  const { nonce } = await withHouse(dev, async (running) => {
    const payment = await newPayment(placeOf(running), await newMerchant(running, 0));
    await automine(false);
    expect((await payment.settle()).body).toMatchObject({ success: false });
    return payment;
  });
  for (const role of ["all", "web", "worker"] as const)
    expect(await refusalOf(other, role)).toBe(refused("1 open payment"));
  await automine(true);
  // The case of the digits does not matter.
  const config = { ...dev.config, treasury: dev.config.treasury.toLowerCase() };
  await withHouse({ ...dev, config }, (running) => expectAtRest(placeOf(running)));
  expect(await stateOf(database, nonce)).toBe("final");
  expect(await recorded()).toEqual([bytesOf(dev)]);
});

it("is refused while the books have money at the old one", async () => {
  expect(await refusalOf(other)).toBe(refused("0.010000 USDC@local in the books"));
});

it("is refused while a process goes by the old one, or a router order for it may be paid", async () => {
  await withHouse(dev, async (running) => {
    await payOutAll(running);
    await expectAtRest(placeOf(running));
    expect(await refusalOf(other)).toBe(refused("1 process that follows the chain"));
    const { timestamp } = await dev.chain.head();
    const expiresAt = new Date((timestamp + 3) * 1_000);
    await openOrder(placeOf(running), { path: "on-chain-contract", expiresAt });
  });
  expect(await refusalOf(other)).toBe(refused("1 router order that may still be paid"));
});

it("is taken when nothing of the old one is left, and may not be changed back while it has money", async () => {
  await withHouse(dev, orderEnds);
  await withHouse(other, async (running) => {
    const place = placeOf(running, other);
    await (await newPayment(place, await newMerchant(running, 0))).settle();
    await expectAtRest(place);
  });
  const paid = await dev.chain.tokenBalance(dev.usdc, address(other.config.treasury), "latest");
  expect([paid, await recorded()]).toEqual([10_000n, [bytesOf(other)]]);
  expect(await refusalOf(dev)).toContain("(0.010000 USDC@local in the books)");
});

it("is taken when the new one holds what the books have, and the books equal the chain there", async () => {
  await withHouse(other, async () => {
    await dev.administer("mint", [dev.config.treasury, 10_000n]);
    const { number } = await dev.chain.head();
    await until(async () => {
      await dev.anvil.mine();
      const [at] = await database.query<{ final: string }>("SELECT finalized_number AS final FROM observer");
      return Number(at?.final) >= number;
    }, "what was moved is final");
  });
  await withHouse(dev, async (running) => {
    const compared = await running.house.reconcile();
    expect(compared.map(({ asset, status }) => `${asset} ${status}`)).toContain("USDC@local equal");
  });
  expect(await recorded()).toEqual([bytesOf(dev)]);
});

/** All that the payment brought. */
async function payOutAll({ house }: RunningHouse): Promise<void> {
  const [paid] = await database.query<{ merchant: string }>("SELECT merchant_id AS merchant FROM claim");
  const order = { id: "po_all", kind: "payout", chainId: dev.anvil.chainId, token: dev.usdc } as const;
  const to = { merchantId: paid?.merchant ?? "", recipient: newKey().address, amount: 10_000n };
  await database.db.tx((tx) => house.facilitator.outgoing.queue(tx, { ...order, ...to }));
  const state = async () => (await house.facilitator.outgoing.status([order.id]))[0]?.state;
  await until(async () => ["sent", "final"].includes((await state()) ?? ""), "it is paid out");
}

/** Mines until a block behind the order's deadline is final. */
function orderEnds(): Promise<void> {
  return until(async () => {
    await dev.anvil.mine();
    const [order] = await database.query<{ ended: boolean }>(
      `SELECT bool_and(extract(epoch FROM deadline) < timestamp) AS ended FROM deposit_order, chain_block
       JOIN observer ON number = finalized_number`,
    );
    return order?.ended === true;
  }, "a later block is final");
}

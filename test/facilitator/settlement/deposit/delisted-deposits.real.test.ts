/** Money in a token that left the list, at the deposit address of an order in another token. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { health } from "#facilitator";
import { type Address, address, hash } from "#kernel/bytes";
import { account, merchantBalances, post } from "#ledger";
import { entry, single } from "../../../../facilitator/ledger/transfer.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";

const EURC = "EURC@local";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(() => world.close());

it("does not keep the order's own money from being seen", async () => {
  const { sim, running, database } = world;
  const { deposits } = running.facilitator;
  for (let i = 0; i < 3; i++) {
    sim.mine();
    await world.turn();
  }
  expect(await database.query("SELECT 1 FROM followed_token")).toHaveLength(2);
  // it is followed for ever
  delist();
  const open = [...world.engine.chains.values()][0];
  const rails = open?.rails as unknown as { token: { symbol: string } }[];
  rails.splice(
    rails.findIndex(({ token }) => token.symbol === "EURC"),
    1,
  );
  expect(sim.chain.row.tokens).toHaveLength(1);
  const order = await database.db.tx((tx) =>
    deposits.open(tx, {
      ...{ orderId: "ord_1", merchantId: "mer_1", subject: "clr_1", path: "deposit-match", chain: "local" },
      ...{ asset: "USDC", amount: 500n, paymentRef: hash(`0x${"ab".repeat(32)}`) },
      expiresAt: new Date(world.clock.now().getTime() + 3_600_000),
    }),
  );
  const payer = world.payer(tokens.USDC, 500n);
  const anybody = world.payer(tokens.EURC, 1n);
  sim.transfer(tokens.USDC, payer.address, order.address, 500n);
  sim.mine();
  await world.turn();
  expect(await deposits.arrivals(database.db.pool, ["clr_1"])).toMatchObject([
    { asset: "USDC", amount: 500n },
  ]);
  sim.transfer(tokens.EURC, anybody.address, order.address, 1n);
  sim.mine();
  await world.turn();
  expect(await deposits.arrivals(database.db.pool, ["clr_1"])).toMatchObject([
    { asset: "USDC", amount: 500n },
  ]);
});

/** Nine of it are a merchant's, who wants five of them paid out. */
async function payoutInEurc() {
  const { running, database, row } = world;
  const payment = { code: "x402", eventKey: "x402:1", subject: "stl_1", blockNumber: 1 };
  const credit = {
    ...{ debit: account.treasury(EURC), credit: account.merchantAvailable("mer_1", EURC) },
    amount: 9n,
  };
  await database.db.tx((tx) => post(tx, [entry(payment, [single("net", credit)])]));
  const order = {
    id: "po_1",
    kind: "payout",
    merchantId: "mer_1",
    chainId: row.chainId,
    token: tokens.EURC,
  } as const;
  const recipient = address(`0x${"77".repeat(20)}`);
  await database.db.tx((tx) => running.facilitator.outgoing.queue(tx, { ...order, recipient, amount: 5n }));
}
/** The operator takes it off the list. */
function delist(): void {
  const listed = world.row.tokens as unknown as { symbol: string }[];
  listed.splice(
    listed.findIndex(({ symbol }) => symbol === "EURC"),
    1,
  );
}

it("a payout in it that nobody has signed can be taken back: its money is the merchant's again", async () => {
  const { running, database } = world;
  await payoutInEurc();
  const { outgoing } = running.facilitator;
  const booked = () =>
    database.query(
      "SELECT code, asset, amount::text FROM ledger_transfer WHERE subject = 'po_1' ORDER BY sequence",
    );
  const created = { code: "payout-created", asset: EURC, amount: "5" };
  expect(await booked()).toEqual([created]);
  delist();
  for (const isFirst of [true, false])
    expect(await database.db.tx((tx) => outgoing.cancel(tx, "po_1"))).toBe(isFirst);
  expect(await booked()).toEqual([created, { ...created, code: "payout-released" }]);
  expect(await merchantBalances(database.db.pool, "mer_1")).toMatchObject([
    { path: expect.stringMatching(/:available$/), asset: EURC, posted: 9n },
    { path: expect.stringMatching(/:reserved$/), asset: EURC, posted: 0n },
  ]);
});

it("a payout in it that waits for an approval is told of while it is listed, and is in nobody's way after that", async () => {
  (world.row.approvalsAbove as Map<Address, bigint>).set(tokens.EURC, 4n);
  await payoutInEurc();
  const unapproved = async () => (await health(world.engine)).chains[0]?.unapproved;
  expect(await unapproved()).toEqual([EURC]);
  delist();
  expect(await unapproved()).toEqual([]);
});

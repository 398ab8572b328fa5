/** Money in a token that left the list, at the deposit address of an order in another token. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import { type SimulatedWorld, simulateWorld, tokens } from "../../simulation/world.ts";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(() => world.close());

it("does not keep the order's own money from being seen", async () => {
  const { sim, running, database, row } = world;
  const { deposits } = running.facilitator;
  for (let i = 0; i < 3; i++) {
    sim.mine();
    await world.turn();
  }
  expect(await database.query("SELECT 1 FROM followed_token")).toHaveLength(2);
  // the operator takes EURC off the list; it is followed for ever
  const listed = row.tokens as unknown as { symbol: string }[];
  listed.splice(
    listed.findIndex(({ symbol }) => symbol === "EURC"),
    1,
  );
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

it("a payout in it that nobody has signed waits until it is listed again, and is not taken back meanwhile", async () => {
  const { running, database, row } = world;
  await database.query(
    `INSERT INTO outgoing (id, kind, merchant_id, chain_id, token, recipient, amount)
     VALUES ('po_1', 'payout', 'mer_1', $1, decode($2, 'hex'), decode(repeat('77', 20), 'hex'), 5)`,
    [row.chainId, tokens.EURC.slice(2)],
  );
  const listed = row.tokens as unknown as { symbol: string }[];
  listed.splice(
    listed.findIndex(({ symbol }) => symbol === "EURC"),
    1,
  );
  expect(await database.db.tx((tx) => running.facilitator.outgoing.cancel(tx, "po_1"))).toBe(false);
  expect(await database.query("SELECT cancelled_at FROM outgoing")).toEqual([{ cancelled_at: null }]);
});

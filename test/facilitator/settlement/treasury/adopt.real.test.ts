/** What keeps a chain's treasury from becoming another one, turn by turn on a made-up chain. */
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { adoptTreasury } from "#facilitator";
import type { Address } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { account, post } from "#ledger";
import { entry, single } from "../../../../facilitator/ledger/transfer.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newKey } from "../../../support/authorization.ts";
import { newOrder } from "../../../support/deposits.ts";
import { silentLog } from "../../../support/dev-chain.ts";

const USDC = "USDC@local";
const other = newKey().address;
let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
  await adopt(world.row.treasury);
  world.sim.mine(4);
  await turns(2);
});
afterEach(() => world.close());

/** A start with this treasury; of the chain that is followed unless told otherwise. */
function adopt(
  treasury: Address,
  over: Partial<SimulatedWorld["sim"]["chain"]> = {},
): Promise<string | null> {
  const { row, engine, sim } = world;
  return adoptTreasury(
    { loopDb: engine.loopDb, log: silentLog },
    {
      ...sim.chain,
      row: { ...row, treasury },
      ...over,
    },
  );
}
/** What is told to be left of the treasury. */
const left = async (over: Parameters<typeof adopt>[1] = {}) =>
  /is left \(([^)]*)\)/.exec((await adopt(other, over)) ?? "")?.[1];
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.turn();
}

/** Money of a merchant, in the books and on the chain. */
async function earned(amount: bigint): Promise<void> {
  const { sim, row, database } = world;
  sim.mint(tokens.USDC, row.treasury, amount);
  const payment = { code: "x402", eventKey: "x402:1", subject: "stl_1", blockNumber: 1 };
  const credit = {
    ...{ debit: account.treasury(USDC), credit: account.merchantAvailable("mer_1", USDC) },
    amount,
  };
  await database.db.tx((tx) => post(tx, [entry(payment, [single("net", credit)])]));
}
async function payOut(amount: bigint): Promise<void> {
  const { running, database, row } = world;
  const order = { id: "po_1", kind: "payout", merchantId: "mer_1", chainId: row.chainId, amount } as const;
  const to = { token: tokens.USDC, recipient: newKey().address };
  await database.db.tx((tx) => running.facilitator.outgoing.queue(tx, { ...order, ...to }));
}
const inAQuarter = () => new Date(world.clock.now().getTime() + 900_000);
/** An order that the router takes, which is paid and not booked by who asked for it. */
async function routed(amount: bigint): Promise<void> {
  const { sim, row, running, database } = world;
  const order = newOrder({ path: "on-chain-contract", amount, expiresAt: inAQuarter() });
  await database.db.tx((tx) => running.facilitator.deposits.open(tx, order));
  const { address: payer } = world.payer(tokens.USDC, amount);
  const { paymentRef } = order;
  sim.route({ token: tokens.USDC, payer, payTo: row.treasury, amount, paymentRef });
  sim.mine(3);
  await turns(2);
}

it("is all that is open there, on that chain and on no other", async () => {
  const { sim, row, database, running } = world;
  await earned(700n);
  await turns(1);
  // given what nobody waits for: money in a block that left the chain, and an order with an address of its own
  sim.transfer(tokens.USDC, world.payer(tokens.USDC, 3n).address, row.treasury, 3n);
  sim.mine();
  await turns(1);
  sim.fork(1, () => true);
  await turns(1);
  const own = newOrder({ expiresAt: inAQuarter() });
  await database.db.tx((tx) => running.facilitator.deposits.open(tx, own));
  await routed(5n);
  await payOut(100n);
  await turns(2);
  const rest = [
    "1 router order that may still be paid",
    "1 transfer that is not booked",
    "0.000700 USDC@local in the books",
  ];
  const payment = "1 open payment";
  expect(await left()).toBe([payment, ...rest].join(", "));
  const isIn = (state: string) => world.database.query("UPDATE claim SET state = $1", [state]);
  for (const state of ["claimed", "submitting", "failed-watch", "review"]) {
    await isIn(state);
    expect(await left()).toBe([payment, ...rest].join(", "));
  }
  for (const state of ["expired", "cancelled"]) {
    await isIn(state);
    expect(await left()).toBe(rest.join(", "));
  }
  await isIn("submitting");
  // and another chain with the same treasury is free of it, also while a process follows the first
  for (const table of ["chain_block", "observer"])
    await database.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(${table}, '{"chain_id": 99}')).* FROM ${table}`,
    );
  await world.database.query("UPDATE observer SET lease_until = NULL WHERE chain_id = 99");
  const elsewhere = (treasury: Address) => ({
    row: { ...world.row, chainId: 99, slug: "elsewhere", treasury },
  });
  await world.database.db.tx(async (tx) => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${world.engine.holder}, 0))`);
    expect(await adopt(other, elsewhere(world.row.treasury))).toBeNull();
    expect(await adopt(other, elsewhere(other))).toBeNull();
    const [orders, transfers, money] = rest;
    const process = "1 process that follows the chain";
    expect(await left()).toBe([payment, orders, transfers, process, money].join(", "));
  });
  // an order can be paid until a later block than its deadline is final
  const isOver = (seconds: number) =>
    world.database.query("UPDATE deposit_order SET deadline = to_timestamp($1)", [seconds]);
  const { timestamp } = await sim.chain.finalized();
  await isOver(timestamp);
  expect(await left()).toContain("1 router order");
  await isOver(timestamp - 1);
  expect(await left()).not.toContain("router order");
});

it("is money that came in a block which is not final, until the other one holds as much in a final one", async () => {
  const { sim, row } = world;
  const { address: payer } = world.payer(tokens.USDC, 700n);
  sim.mine(3);
  await turns(2);
  sim.transfer(tokens.USDC, payer, row.treasury, 700n);
  sim.mine();
  await turns(2);
  expect(await left()).toBe("0.000700 USDC@local in the books");
  sim.transfer(tokens.USDC, row.treasury, other, 700n);
  sim.mine();
  await turns(2);
  expect(await left()).toBe("0.000700 USDC@local in the books");
  sim.mine(2);
  await turns(2);
  expect(await left()).toBeUndefined();
});

it("is money that left in a block which is not final", async () => {
  const { sim } = world;
  await earned(700n);
  await turns(1);
  await payOut(700n);
  await turns(2);
  sim.mine();
  await turns(2);
  expect(await left()).toBe("0.000700 USDC@local in the books");
  sim.mine(2);
  await turns(2);
  expect(await left()).toBeUndefined();
});

it("is money of which the chain does not say that the other one holds it", async () => {
  await earned(700n);
  await turns(1);
  world.sim.mint(tokens.USDC, other, 699n);
  expect(await left()).toBe("0.000700 USDC@local in the books");
  world.sim.mint(tokens.USDC, other, 1n);
  const tokenBalance = () => Promise.reject(fault("chain_unavailable", { chain: "local" }));
  expect(await left({ tokenBalance })).toBe("0.000700 USDC@local in the books");
  expect(await left()).toBeUndefined();
});

/** Books and chain are equal while what was booked of an order is no longer where it was, turn by turn on a made-up chain. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reconcile } from "../../../../facilitator/settlement/treasury/reconcile.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newOrder, type OrderPlace, openOrder, type TestOrder, taker } from "../../../support/deposits.ts";

let world: SimulatedWorld;
let place: OrderPlace;
beforeEach(async () => {
  world = await simulateWorld();
  place = { database: world.database, house: world.running };
  await blocks(1);
});
afterEach(() => world.close());

/** So many blocks, and what they leave to do. */
async function blocks(count: number): Promise<void> {
  world.sim.mine(count);
  for (let i = 0; i < 3; i += 1) await world.turn();
}
/** It is mined, and not final. */
async function pay({ path, address, paymentRef }: TestOrder, amount: bigint): Promise<void> {
  const { sim, row } = world;
  const { address: payer } = world.payer(tokens.USDC, amount);
  if (path === "deposit-match") sim.transfer(tokens.USDC, payer, address, amount);
  else sim.route({ token: tokens.USDC, payer, payTo: row.treasury, amount, paymentRef });
  await blocks(1);
}
async function compared(where: "deposits" | "treasury") {
  const [open] = world.engine.chains.values();
  if (!open) throw new Error("a world without a chain");
  const reports = await reconcile(world.engine, open);
  const found = reports.find((each) => each.asset === "USDC@local" && each.place === where);
  return found && [found.status, found.ledger, found.waiting, found.onChain];
}

describe.each([
  ["deposit-match", "deposits"],
  ["on-chain-contract", "treasury"],
] as const)("what came for an order by %s", (path, where) => {
  async function paid() {
    const expiresAt = new Date(world.clock.now().getTime() + 900_000);
    const order = await openOrder(place, newOrder({ path, expiresAt, amount: 600n }));
    await pay(order, 600n);
    return taker(place, order);
  }

  // Of addresses that hold nothing there is nothing to compare.
  const nothing = where === "treasury" ? ["equal", 0n, 0n, 0n] : undefined;

  it("waits from its final block on until it is taken", async () => {
    const { turn } = await paid();
    expect(await compared(where)).toEqual(nothing);
    await blocks(2);
    expect(await compared(where)).toEqual(["equal", 0n, 600n, 600n]);
    await turn();
    expect(await compared(where)).toEqual(["equal", 600n, 0n, 600n]);
  });

  it("and left the chain for good is missing until it is taken back", async () => {
    const { turn } = await paid();
    await turn();
    world.sim.fork(1, () => true);
    await blocks(2);
    expect(await compared(where)).toEqual(["equal", 600n, -600n, 0n]);
    expect(await turn()).toEqual({ booked: 0, takenBack: 1 });
    expect(await compared(where)).toEqual(nothing);
  });

  it("and left before it was taken is nowhere", async () => {
    await paid();
    world.sim.fork(1, () => true);
    await blocks(2);
    expect(await compared(where)).toEqual(nothing);
  });

  it("and is in the block that came back is neither missing nor there twice", async () => {
    const { turn } = await paid();
    await turn();
    await blocks(2);
    // as record.ts leaves it
    await world.database.query("UPDATE chain_transfer SET claimed_kind = NULL");
    expect(await compared(where)).toEqual(["equal", 600n, 0n, 600n]);
    expect(await turn()).toEqual({ booked: 1, takenBack: 1 });
    expect(await compared(where)).toEqual(["equal", 600n, 0n, 600n]);
  });

  it("and is in another block now is neither missing nor there twice", async () => {
    const { turn } = await paid();
    await turn();
    world.sim.fork(1);
    await blocks(2);
    expect(await compared(where)).toEqual(["equal", 600n, 0n, 600n]);
    expect(await turn()).toEqual({ booked: 1, takenBack: 1 });
    expect(await compared(where)).toEqual(["equal", 600n, 0n, 600n]);
  });
});

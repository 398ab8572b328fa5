import { afterAll, beforeAll, expect, it } from "vitest";
import { trialBalance } from "#ledger";
import { type SimulatedWorld, simulateWorld, tokens } from "./world.ts";

let world: SimulatedWorld;
beforeAll(async () => {
  world = await simulateWorld();
});
afterAll(() => world.close());

async function unmatched(): Promise<{ posted: bigint; pending: bigint }> {
  const account = (await trialBalance(world.database.db.pool)).find(
    ({ path }) => path === "liability:unmatched",
  );
  return { posted: account?.posted ?? 0n, pending: account?.pending ?? 0n };
}

it("books what the made-up chain tells, takes it back with its block, and posts it when that is final", async () => {
  const { sim, row } = world;
  const payer = world.payer(tokens.USDC, 1_000n);
  sim.transfer(tokens.USDC, payer.address, row.treasury, 700n);
  sim.mine();
  await world.turn();
  expect(await unmatched()).toEqual({ posted: 0n, pending: 700n });

  sim.fork(1, () => true);
  await world.turn();
  expect(await unmatched()).toEqual({ posted: 0n, pending: 0n });
  expect(sim.balance(tokens.USDC, payer.address)).toBe(1_000n);

  sim.transfer(tokens.USDC, payer.address, row.treasury, 300n);
  sim.mine(3);
  await world.turn();
  await world.turn();
  expect(await unmatched()).toEqual({ posted: 300n, pending: 0n });
  expect(sim.balance(tokens.USDC, row.treasury)).toBe(300n);
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { trialBalance } from "#ledger";
import { chainTransfer } from "../../facilitator/settlement/observer/tables.ts";
import { reconcile } from "../../facilitator/settlement/treasury/reconcile.ts";
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

it("finds books and chain equal while a payment in a final block waits for its credit", async () => {
  // given a transfer that was recorded and is final, and that no loop has booked so far, as with dear payments
  const { sim, row, engine, database } = world;
  const open = [...engine.chains.values()][0];
  const block = await open?.chain.finalized();
  if (!open || !block) throw new Error("a world without a chain");
  sim.mint(tokens.USDC, row.treasury, 500n);
  await database.db.pool.insert(chainTransfer).values({
    chainId: row.chainId,
    blockNumber: block.number,
    blockHash: block.hash,
    txHash: block.hash,
    logIndex: 99,
    token: tokens.USDC,
    sender: tokens.EURC,
    recipient: row.treasury,
    amount: 500n,
    blockTime: new Date(block.timestamp * 1000),
    canonical: true,
  });
  // when both are compared
  const found = await reconcile(engine, open);
  // then it counts as waiting, and nothing is stopped
  const usdc = found.find(({ asset }) => asset.startsWith("USDC"));
  expect(usdc).toMatchObject({ status: "equal", waiting: 500n });
});

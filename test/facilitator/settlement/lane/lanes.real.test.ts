/** Two lanes of one process. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Signer } from "../../../../facilitator/chain/port.ts";
import { slotId } from "../../../../facilitator/settlement/lane/submit.ts";
import { attempt, signer, slot } from "../../../../facilitator/settlement/lane/tables.ts";
import { type SimulatedWorld, simulateWorld } from "../../../simulation/world.ts";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld({ lanes: 2 });
});
afterEach(() => world.close());

/** A slot of the lane that waits for a block; without signed bytes nobody can look after it. */
async function openSlot(key: Signer, isWhole: boolean) {
  const { row, database } = world;
  const id = slotId({ chain: world.sim.chain, signer: key, fence: 1, maySign: true }, 0);
  const noOp = [{ to: key.address, data: "0x" as const }];
  const terms = { nonce: 0, gasLimit: 21_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n };
  const { raw, hash: txHash } = await key.sign(row, { ...terms, calls: noOp });
  const { pool } = database.db;
  await pool.update(signer).set({ nextNonce: 1 });
  await pool
    .insert(slot)
    .values({ id, chainId: row.chainId, signer: key.address, nonce: 0, sentAtBlock: -10 });
  const fees = { maxFee: terms.maxFeePerGas, tip: terms.maxPriorityFeePerGas, gasLimit: terms.gasLimit };
  if (isWhole) await pool.insert(attempt).values({ slotId: id, seq: 1, txHash, raw, ...fees });
  return raw;
}

it("are looked after each by itself: one that cannot be does not stop the other", async () => {
  const [broken, sound] = [...world.engine.chains.values()].flatMap(({ signers }) => signers);
  if (!broken || !sound) throw new Error("a world without two lanes");
  const send = vi.spyOn(world.sim.chain, "send");
  await openSlot(broken, false);
  const raw = await openSlot(sound, true);
  for (let i = 0; i < 3; i++) {
    world.sim.mine();
    await world.turn();
  }
  expect(send).toHaveBeenCalledWith(raw);
  const open = await world.database.db.pool.select().from(slot);
  expect(open.find(({ signer }) => signer === sound.address)?.minedBlock).toBeGreaterThan(0);
});

/** A gas key that left FAREBOX_SIGNER_KEYS, or whose lane stands still. */
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Hex, hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { attempt, signer, slot, slotItem } from "../../../../facilitator/settlement/lane/tables.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newKey } from "../../../support/authorization.ts";

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(() => world.close());
const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);

async function turns(count: number) {
  for (let i = 0; i < count; i++) {
    world.sim.mine();
    await world.turn();
  }
}

it("a chain leaves supported when the only key that signs is out, whatever row an old key has left", async () => {
  const { pool } = world.database.db;
  await turns(3);
  expect((await world.running.facilitator.supported())?.networks).toHaveLength(1);
  const [own] = [...world.engine.chains.values()].flatMap(({ signers }) => signers);
  if (!own) throw new Error("no lane");
  await pool.update(signer).set({ state: "quarantined" }).where(eq(signer.address, own.address));
  await turns(2);
  expect((await world.running.facilitator.supported())?.networks).toHaveLength(0);
  // the row of a key that was rotated out
  await pool.insert(signer).values({ chainId: world.row.chainId, address: newKey().address, nextNonce: 3 });
  await turns(2);
  expect((await world.running.facilitator.supported())?.networks).toHaveLength(0);
});

it("a claim ends as expired once a final block says so, though its transaction's lane is gone", async () => {
  const { pool } = world.database.db;
  const { chainId, treasury } = world.row;
  await turns(3);
  const now = Math.floor(world.clock.now().getTime() / 1000);
  const old = newKey().address;
  const payer = world.payer(tokens.USDC, 1_000n);
  const parts = { chainId, nonceDomain: tokens.USDC, payer: payer.address, nonce: bytes(1) };
  const key = claimKey(parts);
  await pool.insert(signer).values({ chainId, address: old, nextNonce: 1 });
  await pool.insert(claim).values({
    ...{ claimKey: key, ...parts, method: "eip3009", id: "stl_1", kind: "x402", state: "submitting" },
    ...{ merchantId: "mer_1", payableId: "inv_1", token: tokens.USDC, payTo: treasury, amount: 10n, fee: 0n },
    ...{
      validAfter: 0n,
      validBefore: BigInt(now + 5),
      signature: `0x${"11".repeat(64)}1b`,
      payerHasCode: false,
    },
    ...{ fingerprint: bytes(2), slotId: "old", holdsPayable: true },
  });
  await pool.insert(slot).values({ id: "old", chainId, signer: old, nonce: 0, sentAtBlock: 1 });
  await pool.insert(slotItem).values({ slotId: "old", claimKey: key, idx: 0 });
  await pool.insert(attempt).values({
    ...{
      slotId: "old",
      seq: 1,
      txHash: bytes(7),
      raw: "0x02" as Hex,
      gasLimit: 150_000n,
      maxFee: 2n,
      tip: 1n,
    },
  });
  await turns(40);
  const [row] = await pool.select().from(claim);
  expect(row?.state).toBe("expired");
});

/** What a chain's endpoints are asked while nobody pays: operators are charged by the question. */
import { afterEach, expect, it, vi } from "vitest";
import { hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";

const STEP_MS = 20;
/** Far from here, a block every two seconds. */
const elsewhere = { slug: "elsewhere", chainId: 990_001, blockTimeSeconds: 2 };

let world: SimulatedWorld;
afterEach(() => world?.close());

/** How often the head was asked for while these blocks came. */
async function headsAsked(blocks: number): Promise<number> {
  const asked = vi.spyOn(world.sim.chain, "head");
  for (let block = 0; block < blocks; block += 1) {
    world.sim.mine(1);
    for (let ms = 0; ms < 2_000; ms += STEP_MS) await world.turn(STEP_MS);
  }
  const { length } = asked.mock.calls;
  asked.mockRestore();
  return length;
}

/** A payment that another process has claimed. */
async function claimElsewhere(): Promise<void> {
  const { chainId, treasury } = world.row;
  const payer = world.payer(tokens.USDC, 1_000n).address;
  const parts = { chainId, nonceDomain: tokens.USDC, payer, nonce: hash(`0x${"01".repeat(32)}`) };
  const inAMinute = BigInt(Math.floor(world.clock.now().getTime() / 1000) + 60);
  await world.database.db.pool.insert(claim).values({
    ...{
      claimKey: claimKey(parts),
      ...parts,
      method: "eip3009",
      id: "stl_1",
      kind: "x402",
      state: "claimed",
    },
    ...{ merchantId: "mer_1", payableId: "inv_1", token: tokens.USDC, payTo: treasury, amount: 10n, fee: 0n },
    ...{ validAfter: 0n, validBefore: inAMinute, signature: `0x${"11".repeat(64)}1b`, payerHasCode: false },
    ...{ fingerprint: hash(`0x${"02".repeat(32)}`), slotId: null, holdsPayable: true },
  });
}

it("the head is asked for once a block, as a rule; a local chain's as often as ever", async () => {
  world = await simulateWorld({ chain: elsewhere });
  await headsAsked(2);
  expect(await headsAsked(4)).toBeLessThanOrEqual(6);
  await world.close();
  world = await simulateWorld();
  expect(await headsAsked(2)).toBeGreaterThan(30);
});

it("from a payment that waits to be sent on, as often as on a local chain; half a minute later no more", async () => {
  world = await simulateWorld({ chain: elsewhere });
  await headsAsked(2);
  await claimElsewhere();
  expect(await headsAsked(1)).toBeGreaterThan(15);
  await headsAsked(15);
  expect(await headsAsked(4)).toBeLessThanOrEqual(6);
});

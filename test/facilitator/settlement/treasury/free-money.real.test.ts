/** How much of what is owed may be signed at once, turn by turn on a made-up chain. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Address, hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { treasuryOf } from "../../../support/simulated-treasury.ts";

let world: SimulatedWorld;
const { blocks, earned, queued, stateOf } = treasuryOf(() => world);
beforeEach(async () => {
  world = await simulateWorld();
  await blocks(4);
});
afterEach(() => world.close());

async function statesOf(...orders: readonly { readonly id: string }[]) {
  for (let i = 0; i < 3; i += 1) await world.turn();
  return Promise.all(orders.map(stateOf));
}
/** Without a block nothing of it is booked as sent. */
async function onItsWay(amount: bigint, token: Address = tokens.USDC): Promise<void> {
  expect(await statesOf(await queued({ id: "po_before", amount, token }))).toEqual(["sending"]);
}

it("of two that wait the treasury signs what it holds, and no more, whatever else their merchant has", async () => {
  await earned(1_000n);
  await earned(1_000n, { lies: "deposit" });
  const orders = [await queued({ amount: 600n }), await queued({ id: "po_2", amount: 600n })];
  expect((await statesOf(...orders)).toSorted()).toEqual(["queued", "sending"]);
});

it("a limit of the day is no money: what the treasury does not hold waits", async () => {
  (world.row.dailyLimits as Map<Address, bigint>).set(tokens.USDC, 5_000n);
  await earned(1_000n, { lies: "deposit" });
  expect(await statesOf(await queued())).toEqual(["queued"]);
});

it.each(["submitting", "claimed"])("what is on its way out and %s is there no more", async (state) => {
  await earned(1_000n);
  await earned(1_000n, { lies: "deposit" });
  await onItsWay(600n);
  await world.database.query("UPDATE claim SET state = $1, taken_until = now() + interval '1 hour'", [state]);
  expect(await statesOf(await queued({ amount: 600n }))).toEqual(["queued"]);
  expect(await statesOf(await queued({ id: "po_2", amount: 400n }))).toEqual(["sending"]);
});

it("what is on its way in another token, or from somebody else, takes nothing from it", async () => {
  await earned(1_000n);
  await earned(1_000n, { symbol: "EURC" });
  await onItsWay(900n, tokens.EURC);
  const { chainId, treasury } = world.row;
  const payer = world.payer(tokens.USDC, 900n).address;
  const parts = { chainId, nonceDomain: tokens.USDC, payer, nonce: hash(`0x${"01".repeat(32)}`) };
  await world.database.db.pool.insert(claim).values({
    ...{
      claimKey: claimKey(parts),
      ...parts,
      method: "eip3009",
      id: "stl_in",
      kind: "x402",
      state: "submitting",
    },
    ...{
      merchantId: "mer_1",
      payableId: "inv_1",
      token: tokens.USDC,
      payTo: treasury,
      amount: 900n,
      fee: 0n,
    },
    ...{ validAfter: 0n, validBefore: 1n << 40n, signature: `0x${"11".repeat(64)}1b`, payerHasCode: false },
    ...{ fingerprint: hash(`0x${"02".repeat(32)}`), slotId: null, holdsPayable: false },
  });
  expect(await statesOf(await queued({ amount: 900n }))).toEqual(["sending"]);
});

/** What an operator is told of a deployment, turn by turn on a made-up chain. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { health, outlook } from "#facilitator";
import { account, post } from "#ledger";
import { entry, single } from "../../../../facilitator/ledger/transfer.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newKey } from "../../../support/authorization.ts";
import { newOrder, openOrder, taker } from "../../../support/deposits.ts";

const USDC = "USDC@local";
let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulateWorld({ lanes: 2 });
});
afterEach(() => world.close());

async function blocks(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    world.sim.mine();
    await world.turn();
    await world.turn();
  }
}
const told = () => health(world.engine);
const lanes = async () => (await told()).chains[0]?.lanes ?? [];

/** A deposit that is taken, final, and worth a sweep. */
async function depositTaken(): Promise<void> {
  const { sim, clock, database, running } = world;
  const place = { database, house: running };
  const expiresAt = new Date(clock.now().getTime() + 900_000);
  const order = await openOrder(place, newOrder({ expiresAt }));
  sim.transfer(tokens.USDC, world.payer(tokens.USDC, 10n).address, order.address, 10n);
  await blocks(1);
  await taker(place, order).turn();
  await blocks(3);
}
/** Money of a merchant leaves the treasury. */
async function payOut(): Promise<void> {
  const { sim, row, database, running } = world;
  sim.mint(tokens.USDC, row.treasury, 700n);
  const payment = { code: "x402", eventKey: "x402:1", subject: "stl_1", blockNumber: 1 };
  const credit = { debit: account.treasury(USDC), credit: account.merchantAvailable("mer_1", USDC) };
  await database.db.tx((tx) => post(tx, [entry(payment, [single("net", { ...credit, amount: 700n })])]));
  const to = { chainId: row.chainId, token: tokens.USDC, recipient: newKey().address };
  const order = { id: "po_1", kind: "payout", merchantId: "mer_1", amount: 100n, ...to } as const;
  await database.db.tx((tx) => running.facilitator.outgoing.queue(tx, order));
}

it("sweeps are counted apart from what is open of others' money, each until its end", async () => {
  const send = vi.spyOn(world.sim.chain, "send").mockResolvedValue("accepted");
  await depositTaken();
  await world.database.query("UPDATE claim SET created_at = created_at - interval '1 hour'");
  const { openSweeps, openClaims } = await told();
  expect([openSweeps.count, openClaims]).toEqual([1, []]);
  expect(openSweeps.oldestSeconds).toBeGreaterThanOrEqual(3_600);
  await payOut();
  await world.turn();
  await world.turn();
  const { openClaims: open } = await told();
  expect(open).toMatchObject([{ state: "submitting", count: 1 }]);
  expect(open[0]?.oldestSeconds).toBeLessThan(3_000);
  for (const state of ["claimed", "failed-watch", "review"]) {
    await world.database.query("UPDATE claim SET state = $1", [state]);
    expect(await told()).toMatchObject({ openClaims: [{ state, count: 1 }], openSweeps: { count: 1 } });
  }
  await world.database.query("UPDATE claim SET state = 'submitting'");
  send.mockRestore();
  await blocks(8);
  expect(await told()).toMatchObject({ openClaims: [], openSweeps: { count: 0, oldestSeconds: 0 } });
});

it("of each lane: whether a process holds it, whether it is short of gas, and what of its own is not final", async () => {
  await blocks(1);
  await payOut();
  await world.turn();
  await world.turn();
  const sending = (await lanes()).find(({ openSlots }) => openSlots > 0);
  const idle = (await lanes()).find(({ openSlots }) => openSlots === 0);
  expect(sending).toMatchObject({ openSlots: 1, held: true, isConfigured: true, isLowOnGas: false });
  expect(idle).toMatchObject({ openSlots: 0, held: true, isConfigured: true, isLowOnGas: false });
  await blocks(4);
  expect((await lanes()).map(({ openSlots }) => openSlots)).toEqual([0, 0]);
  await world.database.query(
    "UPDATE signer SET lease_until = now() - interval '1 second', low_since = now() WHERE address = decode($1, 'hex')",
    [sending?.address.slice(2)],
  );
  const now = await lanes();
  expect(now.find(({ address }) => address === sending?.address)).toMatchObject({
    ...{ held: false, isLowOnGas: true },
  });
  expect(now.find(({ address }) => address === idle?.address)).toMatchObject({
    ...{ held: true, isLowOnGas: false },
  });
});

it("how long a lane's gas lasts: at the pace of its own last hundred transactions", async () => {
  const [first, second] = (await lanes()).map(({ address }) => address.slice(2));
  const { row } = world;
  await world.database.query("UPDATE signer SET gas_wei = 3000");
  // one of each long ago, a hundred since: one in a second, of one wei; and one that no block has
  const sent = (lane: string | undefined, from: number, to: number, wei: number | null) =>
    world.database.query(
      `INSERT INTO slot (id, chain_id, signer, nonce, open, sent_at_block, gas_wei, created_at)
       SELECT 'slt_' || $1 || n, $2, decode($1, 'hex'), n, false, 1, $5, now() - make_interval(secs => 100 - n)
       FROM generate_series($3::int, $4::int) AS n`,
      [lane, row.chainId, from, to, wei],
    );
  await sent(first, -10_000, -10_000, 1_000_000);
  await sent(first, 0, 99, 1);
  await sent(second, 0, 0, null);
  const [chain] = await outlook(world.engine);
  const runway = (lane?: string) =>
    chain?.lanes.find(({ address }) => address.slice(2) === lane)?.runwaySeconds;
  expect(runway(first)).toBeGreaterThan(2_990);
  expect(runway(first)).toBeLessThan(3_100);
  expect(runway(second)).toBeNull();
  expect(chain).toMatchObject({ chain: "local", head: world.sim.height() });
  const { baseFeePerGas, maxPriorityFeePerGas } = await world.sim.chain.fees();
  expect([chain?.feePerGas, chain?.feeCap]).toEqual([
    2n * baseFeePerGas + maxPriorityFeePerGas,
    row.maxFeePerGasCap,
  ]);
});

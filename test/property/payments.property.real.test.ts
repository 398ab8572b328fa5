/** Whatever merchants, payers and the chain do, in whatever order: the ledger's invariants hold after every round, and
 *  at rest the books equal the chain. Thousands of payments with random lives, on the real database. */
import { expect, it } from "vitest";
import type { tokens } from "../simulation/world.ts";
import { problemsIn, unlikeChain } from "./payments/invariants.ts";
import { beginLife, type Life } from "./payments/life.ts";
import { type Choices, choices } from "./payments/random.ts";
import { comeToRest, heldOnChain } from "./payments/rest.ts";
import { openShop, type Shop } from "./payments/shop.ts";

const WORLDS = 20;
const LIVES = 100;
const ROUNDS = 6;
/** After this round the window of every order is over. */
const LAST_IN_TIME = 2;
const WINDOW_MS = 31 * 60_000;

/** Some at a time: while one asks the database, the others can think. */
it.each(Array.from({ length: WORLDS / 4 }, (_, i) => [1, 2, 3, 4].map((n) => 4 * i + n)))(
  `${LIVES} payments by seed %i, by seed %i, by seed %i, and by seed %i`,
  async (...seeds) => {
    await Promise.all(seeds.map(liveBy));
  },
  600_000,
);

async function liveBy(seed: number): Promise<void> {
  const shop = await openShop();
  try {
    await live(shop, choices(seed));
  } finally {
    await shop.close();
  }
}

async function live(shop: Shop, chance: Choices): Promise<void> {
  const { sim, clock, database } = shop.world;
  const lives: Life[] = [];
  for (let i = 0; i < LIVES; i += 1) lives.push(await beginLife(shop, chance));
  await shop.call("POST", "/v1/payout-addresses", { chain: "local", address: `0x${"ab".repeat(20)}` });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const life of lives) if (chance.chance(0.6)) await life.act();
    if (chance.chance(0.5)) await payOut(shop, chance);
    sim.mine();
    await shop.turn();
    if (chance.chance(0.5)) {
      sim.fork(1 + chance.below(2), () => chance.chance(0.3));
      await shop.turn();
    }
    expect(await problemsIn(database)).toEqual([]);
    if (round === LAST_IN_TIME) await clock.advance(WINDOW_MS);
  }
  await comeToRest(shop);
  await Promise.all(lives.map((life) => life.answered()));
  expect(await problemsIn(database)).toEqual([]);
  expect(await unlikeChain(database, (symbol) => heldOnChain(shop, symbol as keyof typeof tokens))).toEqual(
    [],
  );
}

async function payOut({ call }: Shop, chance: Choices): Promise<void> {
  const amount = { amount: `${1 + chance.below(400)}.000000`, asset: "USDC" };
  await call("POST", "/v1/payouts", { amount, chain: "local", destination: `0x${"ab".repeat(20)}` });
}

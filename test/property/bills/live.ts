/** A time in which merchants bill and payers pay, by a seed. */
import { expect } from "vitest";
import { fixedRates, type Rates } from "#api";
import type { Clock } from "#kernel/clock";
import type { tokens } from "../../simulation/world.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { problemsIn, unlikeChain } from "../payments/invariants.ts";
import { type Choices, choices } from "../payments/random.ts";
import { comeToRest, heldOnChain } from "../payments/rest.ts";
import { openShop, type Shop } from "../payments/shop.ts";
import { problemsOfBalances } from "./balances.ts";
import { problemsOfBills, problemsOfLinks, problemsOfSubscriptions } from "./invariants.ts";
import { invoiceLife, linkLife, productOf, subscriptionLife } from "./lives.ts";

const LIVES = 12;
const ROUNDS = 10;

export async function liveBills(seed: number): Promise<void> {
  const chance = choices(seed);
  let aheadMs = 0;
  let drift = 10_000n;
  const shop = await openShop({
    feeBps: chance.of([0, 1, 33, 50, 290]),
    merchantClock: (clock) => ({ ...clock, now: () => new Date(clock.now().getTime() + aheadMs) }),
    ratesOf: (clock) => drifting(clock, () => drift),
  });
  const move = () => {
    aheadMs += chance.of([0, 60, 1_200, 3_700, 86_400, 3 * 86_400, 9 * 86_400, 40 * 86_400]) * 1_000;
    drift = 9_900n + BigInt(chance.below(200));
  };
  try {
    await live(shop, chance, move);
  } finally {
    await shop.close();
  }
}

async function live(shop: Shop, chance: Choices, move: () => void): Promise<void> {
  const { sim, database } = shop.world;
  const products = await Promise.all(["a", "b", "c"].map((sku) => productOf(shop, chance, sku)));
  const [invoices, links, subscriptions] = [[], [], []] as [
    Awaited<ReturnType<typeof invoiceLife>>[],
    Awaited<ReturnType<typeof linkLife>>[],
    Awaited<ReturnType<typeof subscriptionLife>>[],
  ];
  for (let i = 0; i < LIVES; i += 1) {
    invoices.push(await invoiceLife(shop, chance));
    links.push(await linkLife(shop, chance, products));
    subscriptions.push(await subscriptionLife(shop, chance));
  }
  const lives = [...invoices, ...links, ...subscriptions];
  await shop.call("POST", "/v1/payout-addresses", { chain: "local", address: `0x${"ab".repeat(20)}` });
  const problems = async () => [
    ...(await problemsIn(database)),
    ...(await problemsOfBills(database)),
    ...(await problemsOfLinks(database, links)),
    ...(await problemsOfSubscriptions(shop, subscriptions)),
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const life of lives) for (let i = chance.below(4); i > 0; i -= 1) await life.act();
    if (chance.chance(0.5)) await payOut(shop, chance);
    sim.mine();
    await shop.turn();
    if (chance.chance(0.4)) {
      sim.fork(1 + chance.below(2), () => chance.chance(0.3));
      await shop.turn();
    }
    expect(await problems()).toEqual([]);
    move();
  }
  await comeToRest(shop);
  await Promise.all(lives.map(({ payer }) => payer.answered()));
  expect([...(await problems()), ...(await problemsOfBalances(shop))]).toEqual([]);
  expect(await unlikeChain(database, (symbol) => heldOnChain(shop, symbol as keyof typeof tokens))).toEqual(
    [],
  );
}

async function payOut({ call }: Shop, chance: Choices): Promise<void> {
  const amount = { amount: `${1 + chance.below(400)}.000000`, asset: chance.of(["USDC", "EURC"]) };
  await call("POST", "/v1/payouts", { amount, chain: "local", destination: `0x${"ab".repeat(20)}` });
}

/** The fixed ones, save that where none is at parity the market moves. */
function drifting(clock: Clock, drift: () => bigint): Rates {
  const fixed = fixedRates({ clock, log: silentLog });
  return {
    async rate(pair) {
      const answer = await fixed.rate(pair);
      if (!answer.ok || ["identity", "parity"].includes(answer.rate.source)) return answer;
      return { ok: true, rate: { ...answer.rate, scaledRate: (answer.rate.scaledRate * drift()) / 10_000n } };
    },
  };
}

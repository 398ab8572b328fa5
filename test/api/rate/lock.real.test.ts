import { beforeAll, describe, expect, it } from "vitest";
import { createMerchant, fixedRates } from "#api";
import { rateColumns, rateOfAgent } from "../../../api/clearing/rates.ts";
import { convert, currentRate, lockRate, withSpread } from "../../../api/rate/verbs.ts";
import { sharedDatabase } from "../../support/db.ts";
import { clock, newId } from "../world.ts";
import { recordingLog } from "./exchanges.ts";

const database = sharedDatabase();
let merchantId: string;
beforeAll(async () => {
  const { db } = database;
  ({ id: merchantId } = await createMerchant(
    { db, clock, newId },
    { name: "Shop", city: "Oslo", countryCode: "NO" },
  ));
});

const pricing = { rates: fixedRates({ clock, log: recordingLog() }) };
const rows = () => database.query("SELECT * FROM rate_snapshot ORDER BY id");
async function lock(spreadBps = 0) {
  const own = { rates: withSpread(pricing.rates, spreadBps) };
  const rate = await currentRate(own, { from: "EUR", to: "USDC" });
  return database.db.tx((tx) => lockRate(tx, { newId, now: clock.now }, { merchantId, rate }));
}

describe("lockRate", () => {
  it("keeps the rate and its inputs with whoever relies on it", async () => {
    const row = await lock(50);
    expect(await rows()).toEqual([
      {
        merchant_id: merchantId,
        id: row.id,
        from_asset: "EUR",
        to_asset: "USDC",
        scaled_rate: "1105500000000000000",
        source: "fixed",
        spread_bps: 50,
        inputs: [
          { source: "fixed", pair: "EUR/USD", scaled: "1100000000000000000", at: clock.now().toISOString() },
        ],
        locked_at: clock.now(),
      },
    ]);
    expect(row.scaledRate).toBe(1_105_500_000_000_000_000n);
  });

  it("leaves nothing behind when what relied on it is rolled back", async () => {
    const before = await rows();
    const rate = await currentRate(pricing, { from: "EUR", to: "USDC" });
    const refused = database.db.tx(async (tx) => {
      await lockRate(tx, { newId, now: clock.now }, { merchantId, rate });
      throw new Error("the order was not made");
    });
    await expect(refused).rejects.toThrow("the order was not made");
    expect(await rows()).toEqual(before);
  });

  it.each([
    ["UPDATE rate_snapshot SET scaled_rate = 1"],
    ["DELETE FROM rate_snapshot"],
    ["TRUNCATE rate_snapshot"],
  ])("is for ever, for the owner as well: %s", async (statement) => {
    await lock();
    const before = await rows();
    await expect(database.query(statement)).rejects.toThrow(/append-only/);
    await expect(database.query(`SET ROLE farebox_app; ${statement}`)).rejects.toThrow(/permission denied/);
    expect(await rows()).toEqual(before);
  });

  it("is refused with a margin beyond 3 %", async () => {
    await expect(lock(301)).rejects.toMatchObject({ cause: { constraint: "rate_snapshot_spread" } });
  });
});

describe("rateOfAgent", () => {
  it("is the locked one where that comes to what was paid, in its token; else what was paid says it", async () => {
    const row = await lock();
    const intent = { merchantId, amount: 1_000n, currency: "EUR", offerRateId: row.id };
    const { amount } = convert({ amount: 1_000n, asset: "EUR" }, { from: "EUR", to: "USDC", ...row });
    const rateOf = (paid: { asset: string; amount: bigint }) =>
      rateOfAgent(database.db.pool, intent, { ...paid, createdAt: clock.now() });
    expect(await rateOf({ asset: "USDC", amount })).toEqual(rateColumns(row));
    for (const paid of [
      { asset: "USDC", amount: amount + 1n },
      { asset: "USDG", amount },
    ])
      expect(await rateOf(paid)).toMatchObject({ rateTo: paid.asset, rateSource: "none" });
  });
});

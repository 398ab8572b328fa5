import { expect, it } from "vitest";
import { shareOf } from "../../../api/invoice/verbs/money.ts";
import { atLockedRate } from "../../../api/refund/amount.ts";

it.each([
  // what a unit of the currency costs in EURC, × 10^18, as sandboxes have it
  ["dollars", 2, 909_090_909_090_909_091n],
  ["pounds", 2, 1_136_363_636_363_636_364n],
  ["yen", 0, 5_909_090_909_090_910n],
])("what was refunded in %s is as much of the price as was asked for", (_, fromDecimals, scaledRate) => {
  const rate = { scaledRate, fromDecimals, toDecimals: 6 };
  const [price, one] = [999n, 10n ** BigInt(fromDecimals) * 10n ** 18n];
  const settled = (price * scaledRate * 10n ** 6n + one - 1n) / one;
  for (const asked of [1n, 7n, 333n, 998n, 999n]) {
    const refunded = atLockedRate(asked, rate, { left: settled, earlier: 0 });
    expect(shareOf(price, refunded, settled)).toBe(asked);
  }
  expect(shareOf(price, 0n, settled)).toBe(0n);
  expect(shareOf(price, 0n, 0n)).toBe(0n);
});

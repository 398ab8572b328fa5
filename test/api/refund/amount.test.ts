import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atLockedRate, feeOn, remaining, type Share, toKeep } from "../../../api/refund/amount.ts";
import { mulDivCeil } from "../../../facilitator/kernel/money.ts";

const ONE = 10n ** 18n;
const payment: Share = { amount: 49_990_000n, fee: 249_950n };

describe("our fee on a refund", () => {
  it("is the worked posting: of 20 out of 49.99 at 50 bps, 0.10", () => {
    expect(feeOn(20_000_000n, payment)).toBe(100_000n);
  });

  it("of everything is all of it; of nothing, and where there is none, nothing", () => {
    expect(feeOn(payment.amount, payment)).toBe(payment.fee);
    expect(feeOn(0n, payment)).toBe(0n);
    expect(feeOn(20_000_000n, { ...payment, fee: 0n })).toBe(0n);
  });

  it("is never more than the refund, and adds up to the payment's, whatever is made and taken back in between", () => {
    const amounts = fc.bigInt(1n, 10n ** 12n);
    const asked = fc.array(fc.record({ part: fc.bigInt(1n, 100n), takeBack: fc.nat(5) }), { maxLength: 30 });
    fc.assert(
      fc.property(amounts, fc.bigInt(0n, 100n), asked, (amount, percent, steps) => {
        const whole = { amount, fee: (amount * percent) / 100n };
        const made: Share[] = [];
        const refund = (part: bigint) => {
          const left = remaining(whole, made);
          if (part === 0n) return;
          const share = { amount: part, fee: feeOn(part, left) };
          expect(share.fee >= 0n && share.fee <= share.amount).toBe(true);
          made.push(share);
        };
        for (const { part, takeBack } of steps) {
          refund((remaining(whole, made).amount * part) / 100n);
          if (takeBack < made.length) made.splice(takeBack, 1);
          if (remaining(whole, made).amount === 0n) made.pop();
        }
        refund(remaining(whole, made).amount);
        expect(remaining(whole, made)).toEqual({ amount: 0n, fee: 0n });
      }),
    );
  });
});

describe("what remains", () => {
  it("is the payment less its refunds, money and fee each", () => {
    const refunds = [
      { amount: 20_000_000n, fee: 100_000n },
      { amount: 9_990_000n, fee: 49_950n },
    ];
    expect(remaining(payment, refunds)).toEqual({ amount: 20_000_000n, fee: 100_000n });
    expect(remaining(payment, [])).toEqual(payment);
  });
});

describe("a part in the payment's currency", () => {
  const yen = { scaledRate: 6_712_345_678_901_234n, fromDecimals: 0, toDecimals: 6 };

  it("is worth what the payment was priced at, rounded down", () => {
    const dollars = { scaledRate: ONE, fromDecimals: 2, toDecimals: 6 };
    expect(atLockedRate(333n, dollars, { left: 10_000_000n, earlier: 0 })).toBe(3_330_000n);
    const euros = { scaledRate: (ONE * 10_825n) / 10_000n, fromDecimals: 2, toDecimals: 6 };
    expect(atLockedRate(333n, euros, { left: 10_825_000n, earlier: 0 })).toBe(3_604_725n);
    expect(atLockedRate(333n, yen, { left: 6_712_346n, earlier: 0 })).toBe(2_235_211n);
  });

  it("is nothing where it is worth less than the smallest piece of the asset, even if that is all that is left", () => {
    const rupiah = { scaledRate: 60_000_000_000_000n, fromDecimals: 2, toDecimals: 6 };
    expect(atLockedRate(1n, rupiah, { left: 5_000_000n, earlier: 0 })).toBe(0n);
    expect(atLockedRate(1n, rupiah, { left: 1n, earlier: 0 })).toBe(0n);
  });

  it("takes with it what it would leave, where that is less than the currency can name", () => {
    const dollars = { scaledRate: ONE, fromDecimals: 2, toDecimals: 6 };
    // of 10 dollars 9.995 came, and were accepted
    expect(atLockedRate(999n, dollars, { left: 9_995_000n, earlier: 0 })).toBe(9_995_000n);
    expect(atLockedRate(998n, dollars, { left: 9_995_000n, earlier: 0 })).toBe(9_980_000n);
    expect(atLockedRate(999n, dollars, { left: 10_000_000n, earlier: 0 })).toBe(9_990_000n);
  });

  it("may ask for more than is left, which the caller refuses", () => {
    expect(atLockedRate(1_001n, yen, { left: 6_712_346n, earlier: 0 }) > 6_712_346n).toBe(true);
  });

  it("takes the remainder when it is the last: parts that add up to the price leave nothing", () => {
    let left = 6_712_346n;
    for (const [earlier, part] of [333n, 333n, 334n].entries())
      left -= atLockedRate(part, yen, { left, earlier });
    expect(left).toBe(0n);
  });

  it("for any rate, parts never exceed the whole, the last one leaves nothing, and what it takes beside its worth is dust", () => {
    const parts = fc.array(fc.bigInt(1n, 10n ** 6n), { minLength: 1, maxLength: 8 });
    // From a hundredth of a rupiah, worth less than the asset's smallest piece, to gold.
    const rates = fc.bigInt(10n ** 13n, 10n ** 21n);
    fc.assert(
      fc.property(parts, rates, fc.constantFrom(0, 2), (asked, scaledRate, fromDecimals) => {
        const rate = { scaledRate, fromDecimals, toDecimals: 6 };
        const total = asked.reduce((sum, part) => sum + part, 0n);
        const [per, of] = [scaledRate * 10n ** 6n, 10n ** BigInt(fromDecimals) * ONE];
        let left = mulDivCeil(total, per, of);
        for (const [earlier, part] of asked.entries()) {
          const amount = atLockedRate(part, rate, { left, earlier });
          const worth = (part * per) / of;
          const cut = amount - worth;
          expect(amount <= left).toBe(true);
          expect(cut === 0n || cut * of < per || cut <= BigInt(earlier + 1)).toBe(true);
          left -= amount;
        }
        const last = ((asked.at(-1) ?? 0n) * per) / of;
        expect(last === 0n || left === 0n).toBe(true);
      }),
    );
  });
});

describe("what must be kept for promises", () => {
  it("is what their own payments will not bring", () => {
    expect(toKeep([])).toBe(0n);
    // given a final payment whose refund waits for an address, and one that is still to become final
    expect(toKeep([{ net: 19_900_000n, coming: 0n }])).toBe(19_900_000n);
    expect(toKeep([{ net: 19_900_000n, coming: 19_900_000n }])).toBe(0n);
    // the merchant gives the fee as well
    expect(toKeep([{ net: 20_000_000n, coming: 19_900_000n }])).toBe(100_000n);
  });

  it("is never lowered by a payment that brings more than was promised of it", () => {
    expect(
      toKeep([
        { net: 5n, coming: 100n },
        { net: 7n, coming: 0n },
      ]),
    ).toBe(7n);
  });
});

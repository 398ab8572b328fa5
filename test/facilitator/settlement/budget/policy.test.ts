import { describe, expect, it } from "vitest";
import { gasBudgetsOf, PAYMENT_GAS } from "../../../../facilitator/chain/gas-budgets.ts";
import { priced } from "../../../../facilitator/settlement/budget/budgets.ts";
import {
  type Account,
  exhausted,
  mostOpenOf,
  newPayer,
  noBurn,
  payerLimit,
} from "../../../../facilitator/settlement/budget/policy.ts";
import { WALLET_GAS_CAP } from "../../../../facilitator/settlement/lane/gas.ts";
import type { Understood } from "../../../../facilitator/settlement/verify/understand.ts";

const account = (given: Partial<Account>): Account => ({
  budget: "payer",
  limit: 1_000n,
  burn: noBurn,
  open: 0,
  mostOpen: null,
  ...given,
});

describe("a budget", () => {
  it("has room to its last wei, and none beyond", () => {
    const burn = { wei: 900n, spentWei: 900n, secondsLeft: 60 };
    expect(exhausted([account({ burn })], 100n)).toBeNull();
    expect(exhausted([account({ burn })], 101n)).toEqual({ budget: "payer", retryAfterSeconds: 60 });
  });

  it("counts what is under way, and then says to come back soon", () => {
    expect(exhausted([account({ open: 9 })], 100n)).toBeNull();
    expect(exhausted([account({ open: 10 })], 100n)).toEqual({ budget: "payer", retryAfterSeconds: 5 });
  });

  it("expects of what is under way that it fails as often as what was before", () => {
    const under = (spentWei: bigint) =>
      exhausted([account({ burn: { wei: 500n, spentWei, secondsLeft: 60 }, open: 4 })], 24n);
    expect(under(500n)).toBeNull();
    expect(under(100n)).toEqual({ budget: "payer", retryAfterSeconds: 5 });
  });

  it("never asks to wait for no time", () => {
    const burn = { wei: 1_000n, spentWei: 1_000n, secondsLeft: 0 };
    expect(exhausted([account({ burn })], 1n)).toMatchObject({ retryAfterSeconds: 1 });
  });

  it("is told by the first that is used up", () => {
    const used = { burn: { wei: 1_000n, spentWei: 1_000n, secondsLeft: 9 } };
    const accounts = [
      account({}),
      account({ budget: "merchant", ...used }),
      account({ budget: "chain", ...used }),
    ];
    expect(exhausted(accounts, 1n)).toMatchObject({ budget: "merchant" });
  });
});

describe("one more payment is reckoned at", () => {
  const cost = (tip: bigint | null, baseFee: bigint, payerHasCode = false) => {
    const open = { chain: { row: { maxFeePerGasCap: 50n } } };
    return priced({ accounts: [], tip }, { payerHasCode, open } as Understood, baseFee).itemWei;
  };

  it("the chain's fee and our tip; at twice the fee while no tip is known", () => {
    expect(cost(3n, 10n)).toBe(PAYMENT_GAS * 13n);
    expect(cost(0n, 10n)).toBe(PAYMENT_GAS * 10n);
    expect(cost(null, 10n)).toBe(PAYMENT_GAS * 20n);
  });

  it("no more than the cap: above it nothing is sent", () => {
    expect(cost(1n, 49n)).toBe(PAYMENT_GAS * 50n);
    expect(cost(1n, 50n)).toBe(PAYMENT_GAS * 50n);
    expect(cost(null, 1_000n)).toBe(PAYMENT_GAS * 50n);
  });

  it("all that a contract wallet may take", () => {
    expect(cost(0n, 10n, true)).toBe(WALLET_GAS_CAP * 10n);
  });
});

describe("payments under way", () => {
  it("are bounded by number, too, whatever they burn", () => {
    const wide = account({ limit: 1_000_000n, mostOpen: 8 });
    expect(exhausted([{ ...wide, open: 7 }], 1n)).toBeNull();
    expect(exhausted([{ ...wide, open: 8 }], 1n)).toEqual({ budget: "open", retryAfterSeconds: 5 });
  });

  it("are few at once for a payer that failed within the hour", () => {
    expect(mostOpenOf(newPayer)).toBe(1_000);
    expect(mostOpenOf({ ...newPayer, hasPaid: true, failures: 1 })).toBe(8);
  });
});

describe("a payer", () => {
  const budgets = gasBudgetsOf({ maxFeePerGasCap: 5_000_000_000n, isLocal: false });

  it("starts small, has more once it has paid, and is small again while it has failed", () => {
    expect(payerLimit(budgets, newPayer)).toBe(budgets.newPayer);
    expect(payerLimit(budgets, { ...newPayer, hasPaid: true })).toBe(budgets.payer);
    expect(payerLimit(budgets, { ...newPayer, hasPaid: true, failures: 1 })).toBe(budgets.newPayer);
    expect(budgets.newPayer).toBeLessThan(budgets.payer);
  });
});

describe("the budgets of a chain", () => {
  it("are those that are given; the others follow its fee cap", () => {
    const usual = gasBudgetsOf({ maxFeePerGasCap: 5_000_000_000n, isLocal: false });
    expect(gasBudgetsOf({ maxFeePerGasCap: 5_000_000_000n, isLocal: false }, { payable: 7n })).toEqual({
      ...usual,
      payable: 7n,
    });
    expect(gasBudgetsOf({ maxFeePerGasCap: 10_000_000_000n, isLocal: false }).chain).toBe(2n * usual.chain);
  });

  it("are a hundred times as wide where gas costs nothing", () => {
    const fee = { maxFeePerGasCap: 5_000_000_000n };
    expect(gasBudgetsOf({ ...fee, isLocal: true }).newPayer).toBe(
      100n * gasBudgetsOf({ ...fee, isLocal: false }).newPayer,
    );
  });
});

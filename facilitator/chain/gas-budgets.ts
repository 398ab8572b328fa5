/** Wei that payments may burn on a chain within an hour. Gas of payments that failed counts five-fold. */
export interface GasBudgets {
  /** Of a payer who has paid here before and has not failed within the hour. */
  readonly payer: bigint;
  /** Of any other payer. */
  readonly newPayer: bigint;
  readonly payable: bigint;
  readonly merchant: bigint;
  readonly chain: bigint;
}

/** Payments an hour whose gas the budgets cover at the fee that is usual. */
const payments = {
  payer: 1_000n,
  newPayer: 20n,
  payable: 5_000n,
  merchant: 10_000n,
  chain: 50_000n,
} as const satisfies Record<keyof GasBudgets, bigint>;

/** Gas that a payment takes in a batch. */
export const PAYMENT_GAS = 70_000n;
/** What part of a chain's fee cap is usual there. */
const USUAL_FEE_SHARE = 20n;
/** On a local chain gas costs nothing: its budgets are in nobody's way. */
const LOCAL_TIMES = 100n;

/** The budgets of a chain: those that are given, and for the others what its fee cap makes of the usual number of
 *  payments. */
export function gasBudgetsOf(
  { maxFeePerGasCap, isLocal }: { readonly maxFeePerGasCap: bigint; readonly isLocal: boolean },
  given: { readonly [K in keyof GasBudgets]?: bigint | undefined } = {},
): GasBudgets {
  const each = ((PAYMENT_GAS * maxFeePerGasCap) / USUAL_FEE_SHARE) * (isLocal ? LOCAL_TIMES : 1n);
  const of = (name: keyof GasBudgets) => given[name] ?? payments[name] * each;
  return {
    payer: of("payer"),
    newPayer: of("newPayer"),
    payable: of("payable"),
    merchant: of("merchant"),
    chain: of("chain"),
  };
}

/** What a checkout page shows of a payment, as far as it can change while somebody looks at it. */
export interface Shown {
  readonly phase: string;
  readonly received: { readonly amount: string } | null;
  readonly confirmations: number | null;
  readonly executionPath: string | null;
  readonly due: { readonly asset: string } | null;
  readonly address: string | null;
  readonly returned: readonly { readonly state: string; readonly transactionHash: string | null }[];
  readonly expiresAt: string;
}

/** Written onto the page by the server; where what it tells now comes to something else, the page is stale. */
export function newsOf(status: Shown): string {
  const { phase, received, confirmations, executionPath, due, address, returned, expiresAt } = status;
  const back = returned.map(({ state, transactionHash }) => `${state} ${transactionHash}`);
  return [
    ...[phase, received?.amount, confirmations, executionPath, due?.asset, address],
    ...back,
    expiresAt,
  ].join(" ");
}

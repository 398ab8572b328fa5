/** How a page talks to a wallet (EIP-1193). */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  /** Some old ones tell of nothing. */
  on?(event: "accountsChanged", listener: (accounts: readonly string[]) => void): void;
}

/** The code of what a wallet refuses with: 4001 declined, 4902 chain unknown. */
export function codeOf(error: unknown): number | null {
  const { code, data } = error as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  const inner = data?.originalError?.code;
  return typeof inner === "number" ? inner : typeof code === "number" ? code : null;
}

/** Declined, asked already, not allowed, not known, not connected, not understood: with these nothing was done. */
const refusals: ReadonlySet<number | null> = new Set([4001, -32002, 4100, 4200, 4900, 4901, -32601, -32602]);

export function isRefusal(error: unknown): boolean {
  return refusals.has(codeOf(error));
}

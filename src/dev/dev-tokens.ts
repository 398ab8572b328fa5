/** The currencies of the local chain, with the EIP-712 names that their originals have. */
export const devTokens = [
  { symbol: "USDC", name: "USD Coin", version: "2" },
  { symbol: "EURC", name: "EURC", version: "2" },
  { symbol: "USDG", name: "Global Dollar", version: "1" },
] as const;

export type DevSymbol = (typeof devTokens)[number]["symbol"];
export const devTokenDecimals = 6;

/** Symbols of the stablecoins Farebox knows, each with the fiat currency it is worth exactly one of. */
export const pegs = { USDC: "USD", USDG: "USD", EURC: "EUR" } as const;
export type Stablecoin = keyof typeof pegs;

/** Decimals of a price, by unit. A fiat x402 price may be finer than the coin: agents pay fractions of a cent. */
export const priceDecimals: Readonly<Record<string, number>> = { USD: 6, EUR: 6, USDC: 6, USDG: 6, EURC: 6 };

export function isStablecoin(code: string): code is Stablecoin {
  return Object.hasOwn(pegs, code);
}

/** Whether a price in `unit` may be paid with `coin` one to one: the coin itself, or the currency it is pegged to. */
export function atParity(unit: string, coin: string): boolean {
  return unit === coin || (isStablecoin(coin) && pegs[coin] === unit);
}

/** The books' name of a token on a chain. USDC on two chains is never netted. */
export function ledgerAsset(symbol: string, chainSlug: string): string {
  return `${symbol}@${chainSlug}`;
}

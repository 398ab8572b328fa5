/** Symbols of the stablecoins Farebox knows, each with the fiat currency it is worth exactly one of. */
export const pegs = { USDC: "USD", USDG: "USD", EURC: "EUR" } as const;
export type Stablecoin = keyof typeof pegs;

/** Decimals of a price, by unit. A fiat x402 price may be finer than the coin: agents pay fractions of a cent. */
export const priceDecimals: Readonly<Record<string, number>> = { USD: 6, EUR: 6, USDC: 6, USDG: 6, EURC: 6 };

/** Currencies without cents. Source: ISO 4217. */
const wholeCurrencies: ReadonlySet<string> = new Set(["ISK", "JPY", "KRW"]);

/** Decimals of an amount in a currency, those of ISO 4217. */
export function fiatDecimals(currency: string): number {
  return wholeCurrencies.has(currency) ? 0 : 2;
}

/** Decimals that a payable's price is kept at: where no coin is at parity with the currency, the currency's own. */
export function decimalsOfPrice(unit: string): number {
  return priceDecimals[unit] ?? fiatDecimals(unit);
}

/** Whether a code is of a coin that is known here; not whether a deployment takes it. */
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

import { fiatDecimals } from "#kernel/asset";

/** A unit in which prices are written. */
export interface Currency {
  readonly code: string;
  readonly kind: "fiat" | "stablecoin";
  readonly name: string;
  /** ISO 4217 exponent of a currency, decimals of a token. */
  readonly decimals: number;
  /** Put before an amount for people; null where the code is clearer. */
  readonly sign: string | null;
}

type Fiat = readonly [code: string, name: string, sign?: string];
/** What the ECB publishes daily, and two currencies pegged to the dollar. Source: merchant-api.md §3.6. */
const fiat: readonly Fiat[] = [
  ["USD", "US dollar", "$"],
  ["EUR", "Euro", "€"],
  ["GBP", "Pound sterling", "£"],
  ["CHF", "Swiss franc"],
  ["CAD", "Canadian dollar", "CA$"],
  ["AUD", "Australian dollar", "A$"],
  ["NZD", "New Zealand dollar", "NZ$"],
  ["JPY", "Japanese yen", "¥"],
  ["SGD", "Singapore dollar", "S$"],
  ["HKD", "Hong Kong dollar", "HK$"],
  ["SEK", "Swedish krona"],
  ["NOK", "Norwegian krone"],
  ["DKK", "Danish krone"],
  ["PLN", "Polish zloty"],
  ["CZK", "Czech koruna"],
  ["HUF", "Hungarian forint"],
  ["RON", "Romanian leu"],
  ["ISK", "Icelandic krona"],
  ["MXN", "Mexican peso", "MX$"],
  ["BRL", "Brazilian real", "R$"],
  ["INR", "Indian rupee", "₹"],
  ["IDR", "Indonesian rupiah"],
  ["KRW", "South Korean won", "₩"],
  ["THB", "Thai baht", "฿"],
  ["PHP", "Philippine peso", "₱"],
  ["MYR", "Malaysian ringgit"],
  ["ZAR", "South African rand"],
  ["TRY", "Turkish lira", "₺"],
  ["ILS", "Israeli new shekel", "₪"],
  ["CNY", "Chinese yuan", "CN¥"],
  ["AED", "UAE dirham"],
  ["SAR", "Saudi riyal"],
];
const tokens = [
  ["USDC", "USD Coin"],
  ["USDG", "Global Dollar"],
  ["EURC", "Euro Coin"],
] as const;

/** Every unit that an amount may be written in. */
export const currencies: readonly Currency[] = [
  ...fiat.map(([code, name, sign = null]) => ({
    code,
    kind: "fiat" as const,
    name,
    decimals: fiatDecimals(code),
    sign,
  })),
  ...tokens.map(([code, name]) => ({
    code,
    kind: "stablecoin" as const,
    name,
    decimals: 6,
    sign: null,
  })),
];

const byCode: ReadonlyMap<string, Currency> = new Map(currencies.map((each) => [each.code, each]));

/** The unit with this code, in capitals as written; null for anything else. */
export function findCurrency(code: string): Currency | null {
  return byCode.get(code) ?? null;
}

/** How many in a second or a minute, and how many may come at once. */
export type Rate = ({ readonly perSecond: number } | { readonly perMinute: number }) & {
  readonly burst: number;
};

/** What is counted, and how much of it may come. Source: merchant-api.md §3.3, security.md §5, §6. */
export const rates = {
  "secret-key": { perSecond: 100, burst: 200 },
  "publishable-key": { perSecond: 20, burst: 40 },
  "publishable-key-address": { perSecond: 5, burst: 20 },
  /** Keys that were not good, by address. A good key is answered all the same. */
  "failed-authentication": { perSecond: 1, burst: 20 },
  /** Look-ups of keys that were never good here, on verify and settle, by address. Apart from those above: a server that
   *  goes on paying with an old key must not shut its neighbours out of the merchant's routes. */
  "unknown-key": { perSecond: 5, burst: 50 },
  /** Look-ups of cookies that are of no session, by address. A busy agent there must not shut the dashboard. */
  "unknown-session": { perSecond: 5, burst: 50 },
  /** Attempts to sign in, by address and by key. */
  "sign-in": { perSecond: 1, burst: 10 },
  /** Requests that a browser sends for a page; each may cost a look at who allows its origin. */
  origin: { perSecond: 20, burst: 60 },
  /** Payers' pages and what they load. */
  checkout: { perSecond: 5, burst: 20 },
  discovery: { perSecond: 10, burst: 20 },
  /** What is the same for everybody and costs no look-up: documents, the reference, pages of errors. */
  document: { perSecond: 50, burst: 200 },
  /** Look-ups by id and MCP tools: one indexed read each. */
  lookup: { perSecond: 50, burst: 200 },
  /** Requests to MCP that call no tool, by address; each of a batch counts. */
  "agent-request": { perSecond: 50, burst: 200 },
  verify: { perSecond: 100, burst: 500 },
  settle: { perSecond: 100, burst: 500 },
  payable: { perSecond: 200, burst: 200 },
  /** Callbacks of providers, by address; each costs a signature check over up to 1 MiB. */
  "provider-webhook": { perSecond: 20, burst: 200 },
  /** By payer together with whoever asks. */
  payer: { perSecond: 50, burst: 250 },
  /** What a merchant newly shows in discovery: a shop may list its catalogue, nobody may fill the index. */
  listing: { perMinute: 6, burst: 100 },
} as const satisfies Readonly<Record<string, Rate>>;
export type RateName = keyof typeof rates;

/** What is left after a request was counted. */
export interface Allowance {
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Null when the request may pass, else the seconds to wait. */
  readonly retryAfterSeconds: number | null;
}
/** Counts a request; with zero points it only looks. Null where nothing is counted. */
export type Count = (name: RateName, who: string, points?: 0 | 1) => Promise<Allowance | null>;
/** Counts one request; null when it may pass, else the seconds to wait. */
export type Limits = (name: RateName, who: string) => Promise<number | null>;

/** The steady part of a rate: so many in so many seconds. */
export function steadyOf(rate: Rate): { readonly points: number; readonly seconds: number } {
  return "perMinute" in rate
    ? { points: rate.perMinute, seconds: 60 }
    : { points: rate.perSecond, seconds: 1 };
}

/** `RateLimit-Policy` of a rate (draft-ietf-httpapi-ratelimit-headers). */
export function policyOf(name: RateName): string {
  const { points, seconds } = steadyOf(rates[name]);
  return `"${name}";q=${points};w=${seconds}`;
}

/** `RateLimit` after a request was counted. */
export function rateOf(
  name: RateName,
  { remaining, resetSeconds }: Omit<Allowance, "retryAfterSeconds">,
): string {
  return `"${name}";r=${remaining};t=${resetSeconds}`;
}

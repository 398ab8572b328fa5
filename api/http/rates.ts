/** Requests a second, and how many may come at once. Source: merchant-api.md §3.3, security.md §6. */
export const rates = {
  "secret-key": { perSecond: 100, burst: 200 },
  discovery: { perSecond: 10, burst: 20 },
  /** Look-ups of MCP tools: one indexed read each. */
  lookup: { perSecond: 50, burst: 200 },
  verify: { perSecond: 100, burst: 500 },
  settle: { perSecond: 100, burst: 500 },
  payable: { perSecond: 200, burst: 200 },
  payer: { perSecond: 50, burst: 250 },
} as const;
export type RateName = keyof typeof rates;

/** Counts one request; null when it may pass, else the seconds to wait. */
export type Limits = (name: RateName, who: string) => Promise<number | null>;

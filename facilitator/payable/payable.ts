import type { Address } from "#kernel/bytes";
import type { Money } from "#kernel/money";

export type PayableKind = "resource" | "payment-link" | "invoice" | "payment-intent";

/** One way to pay: a token on a chain, with what it costs there. */
export interface PayableRail {
  readonly chain: string;
  readonly asset: string;
}

/** What can be paid. Merchant features project what they sell into this; the facilitator knows nothing else of them. */
export interface Payable {
  /** `x402r_…` for a resource, else the id of the link, invoice or intent. */
  readonly id: string;
  readonly kind: PayableKind;
  readonly merchantId: string;
  readonly merchantName: string;
  /** Exact URL of a resource (scheme, host, path); the agent URL of any other kind. */
  readonly url: string;
  readonly title: string | null;
  readonly description: string;
  readonly mimeType: string;
  /** Price: atomic units at `decimalsOfPrice` of its unit (a currency or a stablecoin). */
  readonly price: Money;
  /** Allowed rails; empty means every rail at parity with the price. */
  readonly rails: readonly PayableRail[];
  readonly maxTimeoutSeconds: number;
  readonly paymentFlow: "authorization" | "upfront";
  readonly serviceName: string | null;
  readonly tags: readonly string[];
  readonly iconUrl: string | null;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Our fee on it, in basis points, half-even, floor 0. */
  readonly feeBps: number;
  /** Invoices and intents can be paid once; resources and links any number of times. */
  readonly once: boolean;
  /** Id of the once-payable that this one is a way to pay: whoever pays one of them holds all. Null, or left out, is its
   *  own. */
  readonly heldAs?: string | null;
  readonly listed: boolean;
  /** No new claims; open ones end on their own terms. */
  readonly closedAt: Date | null;
  /** Why it is closed, in one word of its kind: paid, void, disabled, expired. */
  readonly closedAs?: string | null;
  /** When it closes without anybody closing it. */
  readonly expiresAt?: Date | null;
  /** What the merchant calls it, such as an invoice's number, and when it should be paid by. */
  readonly number?: string | null;
  readonly dueAt?: Date | null;
  /** The page where a person pays it; a resource has none. */
  readonly pageUrl?: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One option of a payable, fully priced: what a 402 offers and what a signature must match. */
export interface PaymentOption {
  readonly scheme: "exact";
  readonly network: `eip155:${number}`;
  readonly chain: string;
  readonly symbol: string;
  readonly asset: Address;
  /** Atomic units of `asset`. */
  readonly amount: bigint;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly transferMethod: "eip3009";
  readonly domain: { readonly name: string; readonly version: string };
}

/** The five words that select an option of ours. Addresses in any case; nothing here is believed beyond selecting. */
export interface OptionSelection {
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** Atomic units, as text. */
  readonly amount: string;
  readonly payTo: string;
}

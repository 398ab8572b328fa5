import type { Address } from "#kernel/bytes";

/** Whom a payment came from, as far as the chain tells. */
export interface Origin {
  readonly executionPath: "deposit-match" | "on-chain-contract" | "x402";
  /** Who signed, or called the router; or who sent the deposits that counted. */
  readonly senders: readonly Address[];
  /** The payer's address as it was named before anything was paid. */
  readonly declared: Address | null;
}

/** Where a refund goes unless the merchant says otherwise; `ask`: to this sender if it is no contract; null: nobody can
 *  tell. Whoever signed is the payer. A deposit may come from the pooled wallet of an exchange, and what is sent back
 *  there is lost: it goes back to a sender that was named before, or that is a wallet of its own. Pure.
 *  Source: merchant-api.md §1.5. */
export function defaultDestination({ executionPath, senders, declared }: Origin): Default {
  const [sender, another] = new Set(senders);
  if (!sender || another) return null;
  const hasSigned = executionPath !== "deposit-match";
  return hasSigned || sender === declared ? { to: sender } : { ask: sender };
}

export type Default = { readonly to: Address } | { readonly ask: Address } | null;

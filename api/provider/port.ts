/** What an outside company that takes money for us can do. Source: merchant-api.md §6.5. */
export interface ProviderAdapter {
  /** Stands in the callback's path, in `provider` of intents and clearings, and after the `@` of its ledger assets. */
  readonly name: string;
  /** The events in a callback's exact bytes, once the signature over them is found good and its time within five
   *  minutes of `now`. Reads nothing before that. Fault: `signature_invalid`. */
  verifyWebhook(raw: Uint8Array, headers: Headers, now: Date): Promise<readonly VerifiedEvent[]>;
  /** Asks for a payment. Asked again with the same `id` it answers with the one that was made. */
  createClearing(order: ProviderOrder): Promise<ProviderStatus>;
  /** Tells the provider to hand the received money over to us. Told again, it changes nothing. */
  settle(reference: string): Promise<ProviderStatus>;
  /** Takes no money for it any more; what came before stays. Told again, it changes nothing. */
  close(reference: string): Promise<ProviderStatus>;
  /** Sends money back to the payer. Asked again with the same `id` it answers with the one that was made. */
  refund(refund: RefundOrder): Promise<RefundStatus>;
  /** What the provider says now: the only thing that moves a state. */
  getStatus(reference: string): Promise<ProviderStatus>;
  getRefund(reference: string): Promise<RefundStatus>;
}

/** A hint that something changed there. */
export interface VerifiedEvent {
  /** The provider's id of the event: the same however often it is delivered. */
  readonly id: string;
  readonly type: string;
  /** The provider's own id of what it is about. */
  readonly reference: string;
}

export interface ProviderOrder {
  /** Ours (`clr_…`). */
  readonly id: string;
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  readonly metadata: Readonly<Record<string, string>>;
}

export const providerStates = [
  "awaiting-funds",
  "funds-detected",
  "funds-received",
  "settling",
  "settled",
  "failed",
  /** Ended without money. */
  "closed",
] as const;
export type ProviderState = (typeof providerStates)[number];

/** A payment at the provider. What it has received is all of the amount or nothing. */
export interface ProviderStatus {
  readonly reference: string;
  readonly state: ProviderState;
  /** Atomic units. */
  readonly received: bigint;
  /** A sentence; null unless failed. */
  readonly failure: string | null;
}

export interface RefundOrder {
  /** Ours (`re_…`). */
  readonly id: string;
  /** The payment at the provider. */
  readonly reference: string;
  readonly amount: bigint;
}
export interface RefundStatus {
  readonly reference: string;
  readonly state: "pending" | "succeeded" | "failed";
}

/** A provider that did not answer, or not as agreed. Says nothing about the payment: it is asked again. */
export class ProviderProblem extends Error {}

export type Providers = ReadonlyMap<string, ProviderAdapter>;

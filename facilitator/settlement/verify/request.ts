import type { Address, Hash } from "#kernel/bytes";
import type { OptionSelection } from "../../payable/payable.ts";
import type { Reason } from "../../scheme/reasons.ts";

export type { OptionSelection };

/** A payment to verify or settle, in the one inner shape; v1 has been translated at the edge. */
export interface PaymentRequest {
  readonly target: { readonly by: "id"; readonly id: string } | { readonly by: "url"; readonly url: string };
  /** The carried requirements, or `accepted` where they are missing. */
  readonly selection: OptionSelection;
  /** `accepted`, when both came: it must select the same option. */
  readonly accepted: OptionSelection | null;
  /** Scheme data: signature and authorization. */
  readonly payload: unknown;
  /** Canonical hash of the whole payment payload as it came; a verdict or stored answer is for these bytes only. Few ask
   *  for it: requests with an id of their own, and forgeries. */
  readonly payloadHash: () => Hash;
  /** `payment-identifier` of the payload's extensions. */
  readonly paymentIdentifier: string | null;
  /** `Idempotency-Key` of the request; settle only. */
  readonly idempotencyKey: string | null;
  readonly requestId: string;
}

export type VerifyAnswer =
  | { readonly outcome: "valid"; readonly payer: Address }
  | {
      readonly outcome: "invalid";
      readonly reason: Reason;
      readonly message: string;
      readonly payer: Address | null;
    }
  | {
      readonly outcome: "unknown-payable";
      readonly reason: "invalid_payment_requirements";
      readonly message: string;
    };

/** What a settle ended with. `unavailable`: nothing could be checked (`unexpected_settle_error`, nothing claimed) or
 *  it is not known whether the claim was recorded (`settlement_pending`). */
export type SettleOutcome =
  | "settled"
  | "pending"
  | "duplicate"
  | "bound-elsewhere"
  | "refused"
  | "failed"
  | "unknown-payable"
  | "idempotency-key-reused"
  | "unavailable";

/** `transaction` and `network` are always strings; `transaction` is `""` while nothing was signed. */
export interface SettleAnswer {
  readonly outcome: SettleOutcome;
  readonly reason: Reason | null;
  readonly message: string | null;
  readonly transaction: string;
  readonly network: string;
  readonly payer: Address | null;
  /** Atomic units, as text; null where nothing was matched. */
  readonly amount: string | null;
  readonly paymentId: string | null;
  /** What was paid; of a success only. */
  readonly payableId?: string;
  readonly extra: SettleExtra;
  /** A stored answer of an earlier identical call with the same id. */
  readonly replayed: boolean;
}
export interface SettleExtra {
  readonly retryAfterSeconds?: number;
  /** False only when it can never be charged any more. */
  readonly chargeable?: boolean;
  /** RFC 3339, block time. */
  readonly settledAt?: string;
  readonly settledBy?: "farebox" | "third-party";
}

export type SettlementStatusName =
  | "pending"
  | "settled"
  | "final"
  | "failed"
  | "expired"
  | "cancelled"
  | "review"
  | "reversed";

/** Where a settlement stands: chain facts only, for anybody who holds its id. */
export interface SettlementStatus {
  readonly paymentId: string;
  readonly status: SettlementStatusName;
  readonly success: boolean;
  readonly reason: Reason | null;
  readonly transaction: string;
  readonly network: string;
  readonly payer: Address;
  readonly block: number | null;
  readonly logIndex: number | null;
  readonly confirmations: number;
  readonly required: number;
  readonly chargeable: boolean;
}

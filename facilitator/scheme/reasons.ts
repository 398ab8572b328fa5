/** Every reason the payment protocol can answer with (x402.md §6). Readers treat them as opaque, save
 *  `settlement_pending`: wait, then repeat the identical request. */
export const reasons = [
  "invalid_x402_version",
  "invalid_payload",
  "unsupported_scheme",
  "invalid_network",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_network_mismatch",
  "unsupported_payload_type",
  "invalid_exact_evm_failed_to_parse_signature",
  "invalid_exact_evm_signature",
  "eip6492_factory_not_allowed",
  "invalid_exact_evm_payload_undeployed_smart_wallet",
  "invalid_payment_requirements",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  "asset_not_deployed_contract",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_nonce_already_used",
  "insufficient_funds",
  "invalid_exact_evm_transaction_simulation_failed",
  "invalid_transaction_state",
  "unexpected_verify_error",
  "settlement_pending",
  "duplicate_settlement",
  "authorization_bound_elsewhere",
  "invalid_exact_evm_transaction_failed",
  "invalid_exact_evm_transfer_event_mismatch",
  "unexpected_settle_error",
] as const;
export type Reason = (typeof reasons)[number];

/** An expected no of the protocol: a value, not an exception. `message` says what was expected, what came, what to do. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
}

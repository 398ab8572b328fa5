import type { ChainFacts, Reason } from "#facilitator";

/** v1's names of the networks we serve, working or not, both ways. Where there is none the text stays as it is. */
export interface V1Networks {
  toCaip2(name: string): string;
  toName(network: string): string;
  /** Whether it is one of ours that v1 has no name for. */
  isNameless(network: string): boolean;
}

export function v1Networks(chains: readonly Pick<ChainFacts, "network" | "v1Name">[]): V1Networks {
  return {
    toCaip2: (name) => chains.find(({ v1Name }) => v1Name === name)?.network ?? name,
    toName: (network) => chains.find((chain) => chain.network === network)?.v1Name ?? network,
    isNameless: (network) => chains.some((chain) => chain.network === network && chain.v1Name === null),
  };
}

/** Our reasons in v1's words, a closed list there. Unknown is not failed in any version, and an outage of ours is no
 *  refusal of the payer, so those keep their names. Source: x402.md §6.3. */
export const v1Reasons = {
  invalid_x402_version: "invalid_payment",
  invalid_payload: "invalid_payload",
  unsupported_scheme: "unsupported_scheme",
  invalid_network: "invalid_network",
  invalid_exact_evm_scheme: "invalid_payment",
  invalid_exact_evm_network_mismatch: "invalid_payment",
  unsupported_payload_type: "invalid_payment",
  invalid_exact_evm_failed_to_parse_signature: "invalid_payment",
  invalid_exact_evm_signature: "invalid_exact_evm_payload_signature",
  eip6492_factory_not_allowed: "invalid_payment",
  invalid_exact_evm_payload_undeployed_smart_wallet: "invalid_payment",
  invalid_payment_requirements: "invalid_payment",
  invalid_exact_evm_recipient_mismatch: "invalid_exact_evm_payload_recipient_mismatch",
  invalid_exact_evm_payload_authorization_value_mismatch: "invalid_exact_evm_payload_authorization_value",
  invalid_exact_evm_payload_authorization_valid_before:
    "invalid_exact_evm_payload_authorization_valid_before",
  invalid_exact_evm_payload_authorization_valid_after: "invalid_exact_evm_payload_authorization_valid_after",
  asset_not_deployed_contract: "invalid_payment",
  invalid_exact_evm_eip3009_not_supported: "invalid_payment",
  invalid_exact_evm_nonce_already_used: "invalid_transaction_state",
  insufficient_funds: "insufficient_funds",
  invalid_exact_evm_transaction_simulation_failed: "invalid_transaction_state",
  invalid_transaction_state: "invalid_transaction_state",
  unexpected_verify_error: "unexpected_verify_error",
  settlement_pending: "settlement_pending",
  duplicate_settlement: "duplicate_settlement",
  authorization_bound_elsewhere: "invalid_payment",
  invalid_exact_evm_transaction_failed: "invalid_payment",
  invalid_exact_evm_transfer_event_mismatch: "invalid_payment",
  unexpected_settle_error: "unexpected_settle_error",
} as const satisfies Record<Reason, string>;

import { hashTypedData, zeroAddress } from "viem";
import { type Address, type Hash, hash } from "#kernel/bytes";

/** What the operator asks a payer to pay. */
export interface OrderTerms {
  /** keccak256 over the payment intent's id. */
  readonly paymentRef: Hash;
  readonly token: Address;
  readonly payTo: Address;
  /** Atomic units of the token. */
  readonly amount: bigint;
  /** Unix seconds, the last in which the order can be paid. */
  readonly deadline: bigint;
}

const types = {
  Order: [
    { name: "paymentRef", type: "bytes32" },
    { name: "token", type: "address" },
    { name: "payTo", type: "address" },
    { name: "amount", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** The 32 bytes that the operator signs for an order: of this router, or, with null, for a payment that needs no
 *  contract (the domain then names the zero address). Source: EIP-712, merchant-api.md §1.3,
 *  `contracts/PaymentRouter.sol`. */
export function orderDigest(
  { chainId, router }: { readonly chainId: number; readonly router: Address | null },
  order: OrderTerms,
): Hash {
  const verifyingContract = router ?? zeroAddress;
  const domain = { name: "Farebox", version: "1", chainId, verifyingContract };
  return hash(hashTypedData({ domain, types, primaryType: "Order", message: order }));
}

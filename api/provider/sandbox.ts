import type { Address, Hash, Hex } from "#kernel/bytes";
import type { SandboxProvider } from "./adapters/sandbox.ts";
import type { MovableClock } from "./clock.ts";

/** What a sandbox can do to its own world. Nothing of it exists elsewhere. */
export interface Sandbox {
  readonly chain: SandboxChain;
  readonly clock: MovableClock;
  /** Null where no simulator runs. */
  readonly provider: SandboxProvider | null;
}

/** The payer's and the miner's side of the local chain. The shell implements it, since it knows the node. Fault of its
 *  calls: `chain_unavailable`. */
export interface SandboxChain {
  /** Sends tokens from the dev payer, who is given what is missing. Resolves with the transaction's hash when the node
   *  has it. Throws when the token is not one of this deployment's. */
  transfer(transfer: {
    readonly token: Address;
    readonly to: Address;
    readonly amount: bigint;
  }): Promise<Hash>;
  /** Pays a signed order through the router, as the dev payer. */
  payOrder(order: SignedOrder): Promise<Hash>;
  /** Replaces the newest blocks by empty ones: what they held is gone. False when some of them are final already. */
  reorg(depth: number): Promise<boolean>;
}

export interface SignedOrder {
  readonly router: Address;
  readonly paymentRef: Hash;
  readonly token: Address;
  readonly payTo: Address;
  /** Atomic units. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
  readonly signature: Hex;
}

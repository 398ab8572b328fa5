import type { Address, Hash, Hex } from "#kernel/bytes";
import type { ChainRow, TokenRow } from "./registry.ts";

/** A block as the observer follows it. `timestamp` in seconds, fees in wei. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly timestamp: number;
  readonly baseFeePerGas: bigint;
}

/** Where in the chain a log is. */
export interface LogPlace {
  /** The token moved; also where another contract tells of it. */
  readonly token: Address;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  /** Index within the block. */
  readonly logIndex: number;
}
/** The logs that are about our money, of tokens that were asked for only. */
export type MoneyLog =
  | (LogPlace & {
      readonly event: "transfer";
      readonly from: Address;
      readonly to: Address;
      readonly amount: bigint;
    })
  | (LogPlace & { readonly event: "authorization-used"; readonly payer: Address; readonly nonce: Hash })
  | (LogPlace & { readonly event: "authorization-canceled"; readonly payer: Address; readonly nonce: Hash })
  /** An order paid through our router, right behind its transfer in the same transaction. */
  | (LogPlace & {
      readonly event: "routed";
      readonly paymentRef: Hash;
      readonly payer: Address;
      readonly payTo: Address;
      readonly amount: bigint;
    });

/** A call as it will be sent: closed set of targets and selectors, no value. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
}
/** What became of one call inside a simulation. */
export type CallOutcome =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly revert: Revert; readonly data: Hex };
/** Why a token call failed, as far as its error tells. */
export type Revert =
  | "insufficient-balance"
  | "authorization-used"
  | "authorization-not-yet-valid"
  | "authorization-expired"
  | "bad-signature"
  | "paused"
  | "blocked"
  | "out-of-gas"
  | "unknown";

/** One payer's authorization to be read against the chain. `transfer` is the very call that would be sent. */
export interface AuthorizationRead {
  readonly token: Address;
  readonly payer: Address;
  readonly nonce: Hash;
  readonly transfer: Call;
  /** Whether the payer's balance is asked for also where the transfer passes. */
  readonly asksBalance?: boolean;
}
export interface AuthorizationState {
  readonly block: Pick<BlockRef, "number" | "timestamp" | "baseFeePerGas">;
  /** Atomic units; may be null where nobody asked: it is enough for the transfer, which passes. */
  readonly balance: bigint | null;
  readonly used: boolean;
  readonly transfer: CallOutcome;
  /** One endpoint says that it cannot be paid, another that it can, or the token cannot be read: a verdict about nobody. */
  readonly isDisputed?: boolean;
}

export interface FeeEstimate {
  /** Of the next block, wei. */
  readonly baseFeePerGas: bigint;
  /** Wei: what others gave lately and was enough. */
  readonly maxPriorityFeePerGas: bigint;
  /** Blocks lately had room for more: a smaller tip may be enough as well. */
  readonly hasRoom: boolean;
}
export interface TransactionRequest {
  readonly nonce: number;
  readonly calls: readonly Call[];
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}
/** A signed transaction. The hash is known before anything is sent. */
export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hash;
}
/** What an endpoint said to raw bytes. Everything but `refused` leaves the outcome open; silence is `unknown`. */
export type SendResult =
  | "accepted"
  | "already-known"
  | "nonce-too-low"
  | "underpriced"
  | "refused"
  | "unknown";

export interface Receipt {
  readonly txHash: Hash;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
}

/** What a token's contract says of itself; read at boot and once a day, never entered. */
export interface TokenFacts {
  readonly hasCode: boolean;
  /** SHA-256 of its code and, behind a proxy, of that of its implementation: another one is another contract. */
  readonly codeHash: Hash;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly knowsAuthorizations: boolean;
  readonly hasBytesOverload: boolean;
  /** Null when neither ERC-5267 nor `DOMAIN_SEPARATOR()` proves it. */
  readonly domain: TokenDomain | null;
}
/** What a payment router says of itself. */
export interface RouterFacts {
  readonly hasCode: boolean;
  /** Whose signed orders it takes; null when it does not say. */
  readonly operator: Address | null;
}
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Address;
}

/** What a chain can do for us. Reads reject with the fault `chain_unavailable` when no endpoint answered usefully:
 *  an outage of ours, never a verdict about a payer. All methods have a time-out. */
export interface Chain {
  readonly row: ChainRow;
  /** Whether its endpoints may be asked for what moves no money: some of a second's calls are kept for what does. */
  hasSpareCalls(): boolean;
  head(): Promise<BlockRef>;
  finalized(): Promise<BlockRef>;
  /** Null when the endpoint has no block at that height (yet). */
  blockAt(number: number): Promise<BlockRef | null>;
  /** Transfers from or to `ours`, every authorization used or cancelled, and every order paid through the row's
   *  router, all of `tokens` (the listed ones, unless told), in that very block (asked by its hash). Ordered by log index.
   *  Null when the endpoint does not know the block. */
  moneyLogs(
    block: BlockRef,
    ours: readonly Address[],
    tokens?: readonly Address[],
  ): Promise<readonly MoneyLog[] | null>;
  /** The block of one authorization's use or cancellation, found by its indexed event from `fromBlock` to the head;
   *  null if none. */
  findAuthorizationUse(item: {
    token: Address;
    payer: Address;
    nonce: Hash;
    fromBlock: number;
  }): Promise<BlockRef | null>;
  /** One `eth_call` for many: the balances that are asked for first, then the transfers in order, each allowed to fail;
   *  and one more about those that do. */
  readAuthorizations(
    from: Address,
    items: readonly AuthorizationRead[],
  ): Promise<readonly AuthorizationState[]>;
  /** The very batch (or lone call) that would be sent, from its lane; one outcome per call. */
  simulate(from: Address, calls: readonly Call[], gasLimit: bigint): Promise<readonly CallOutcome[]>;
  /** Transactions of `account` mined up to `block`: its next nonce there. */
  nonce(account: Address, block: number | "latest"): Promise<number>;
  /** Wei. */
  nativeBalance(account: Address, block: number | "latest"): Promise<bigint>;
  /** At a block as two endpoints tell it alike, where so many are configured: books are opened by it, and stop what leaves
   *  where they differ from it. */
  tokenBalance(token: Address, account: Address, block: number | "latest"): Promise<bigint>;
  /** The same of many accounts, in their order. */
  tokenBalances(token: Address, accounts: readonly Address[], block: number): Promise<readonly bigint[]>;
  code(account: Address): Promise<Hex>;
  /** Whether there is code at each account, in one call: accounts with code are never batched. */
  haveCode(accounts: readonly Address[]): Promise<readonly boolean[]>;
  /** Strict ERC-1271 answer of the contract at `account`; false for anything but the magic value. */
  isValidSignature(account: Address, digest: Hash, signature: Hex): Promise<boolean>;
  fees(): Promise<FeeEstimate>;
  /** Never rejects: to be told nothing is an answer too. */
  send(raw: Hex): Promise<SendResult>;
  receipt(txHash: Hash): Promise<Receipt | null>;
  /** As two endpoints tell it alike, where so many are configured: what is taken goes by it. */
  tokenFacts(token: Address): Promise<TokenFacts>;
  /** The same of a router. */
  routerFacts(router: Address): Promise<RouterFacts>;
}

/** Signs for one gas key under a closed policy: known chain, listed targets and selectors, no value, capped gas and
 *  fee. Rejects anything else, whoever asks. */
export interface Signer {
  readonly address: Address;
  /** Whether the policy would refuse a transaction for this call, whatever its gas. */
  refuses(chain: ChainRow, call: Call): boolean;
  /** Why the policy would refuse this transaction; null where it signs it. */
  refusal(chain: ChainRow, request: TransactionRequest): string | null;
  sign(chain: ChainRow, request: TransactionRequest): Promise<SignedTransaction>;
}

/** Signs authorizations of money that is ours, never transactions: the treasury holds no gas. */
export interface Custodian {
  readonly address: Address;
  /** 65 bytes over an EIP-712 digest of a listed token. */
  sign(digest: Hash): Promise<Hex>;
}

/** Signs orders: what a payer is asked to pay. Holds no money, so every process may have it. */
export interface Operator {
  readonly address: Address;
  /** 65 bytes over an EIP-712 digest of an order. */
  sign(digest: Hash): Promise<Hex>;
}

/** The hierarchical account whose addresses take deposits: one per order, m/44'/60'/1'/0/{index}. */
export interface DepositAccount {
  addressOf(index: number): Address;
  /** 65 bytes over an EIP-712 digest of a listed token, by the key of one address. Null in a process that moves no money. */
  readonly sign: ((index: number, digest: Hash) => Promise<Hex>) | null;
}

/** A rail whose contract passed its checks at boot. */
export type LiveRail = Extract<Rail, { readonly ok: true }>;

/** A token rail whose facts were checked on this chain at boot, or the reason why it is refused. */
export type Rail =
  | {
      readonly ok: true;
      readonly token: TokenRow;
      readonly domain: TokenDomain;
      readonly hasBytesOverload: boolean;
      readonly codeHash: Hash;
      /** Why it takes nothing new: its contract is not what it was at boot. Null as long as it is. */
      readonly paused: string | null;
    }
  | {
      readonly ok: false;
      readonly token: TokenRow;
      readonly problem: string;
      /** Nothing is wrong with it, as far as anybody knows: its endpoints could not be heard alike. */
      readonly isUnheard: boolean;
    };

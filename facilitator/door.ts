/** What the rooms outside may ask of the centre, and the shapes of its answers. */
import type { Address } from "#kernel/bytes";
import type { Executor, Tx } from "#store";
import type { Payable, PaymentOption } from "./payable/payable.ts";
import type { OwnWallet } from "./payable/popularity.ts";
import type { ResourceType } from "./payable/resource-type.ts";
import type { Assessment, Trust } from "./payable/trust.ts";
import type { Holder } from "./settlement/claim/hold.ts";
import type { PaymentChoice, PaymentView } from "./settlement/claim/payments.ts";
import type { Arrival } from "./settlement/deposit/arrivals.ts";
import type { DepositOrder, OpenedOrder } from "./settlement/deposit/order.ts";
import type { PaymentLookup, PaymentRef, SignedRef } from "./settlement/lookup/lookup.ts";
import type { OutgoingOrder, OutgoingStatus } from "./settlement/treasury/outgoing.ts";
import type { PayableState } from "./settlement/verify/offer.ts";
import type {
  PaymentRequest,
  SettleAnswer,
  SettlementStatus,
  VerifyAnswer,
} from "./settlement/verify/request.ts";
import type { SignedText } from "./settlement/verify/signed-text.ts";

/** A payable with its options priced now. */
export interface Quote {
  readonly payable: Payable;
  readonly options: readonly PaymentOption[];
}
/** An entry of the discovery indexes. */
export interface Discovered extends Quote {
  readonly trust: Trust;
}
/** A payable as somebody meets it who wants to pay it, closed ones included. */
export interface Offer extends Quote {
  readonly state: PayableState;
  /** The same on every rail that was found good, also where nothing new is paid now: what was signed before is read by
   *  these. */
  readonly everywhere: readonly PaymentOption[];
  /** Id of the payment that holds it or has paid it, for what can be paid once. */
  readonly paymentId: string | null;
}
/** A rail of this deployment whose contract was checked on the chain. */
export interface RailFacts {
  readonly chain: string;
  readonly network: `eip155:${number}`;
  readonly v1Name: string | null;
  /** Where people look up its transactions, at `/tx/{hash}`; null where there is no such page. */
  readonly explorer: string | null;
  readonly asset: string;
  readonly contract: string;
  readonly decimals: number;
  /** Least amount taken there, in atomic units: the chain's dust floor. */
  readonly minimum: bigint;
  /** Confirmations that a value tier waits for before it is credited. */
  readonly depth: { readonly x402: number; readonly standard: number; readonly high: number };
  readonly blockTimeSeconds: number;
  readonly payTo: string;
  /** The contract that takes payments of signed orders, checksummed; null where there is none. */
  readonly router: string | null;
  readonly transferMethod: "eip3009";
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: string;
  };
}
/** A chain that is served, with what payments that are there already need of it: also while nothing new is taken there. */
export interface ChainFacts
  extends Pick<RailFacts, "chain" | "network" | "v1Name" | "explorer" | "depth" | "blockTimeSeconds"> {
  readonly chainId: number;
  /** All that are configured, paused and refused ones too. */
  readonly tokens: readonly Pick<RailFacts, "asset" | "contract" | "decimals">[];
}
/** A configured rail that was refused when its contract was checked, and why. */
export interface RefusedRail {
  readonly chain: string;
  readonly network: `eip155:${number}`;
  readonly asset: string;
  readonly problem: string;
}
export interface Supported {
  readonly networks: readonly {
    readonly network: `eip155:${number}`;
    readonly v1Name: string | null;
    readonly signers: readonly string[];
  }[];
}
export interface DiscoverQuery {
  readonly kinds: readonly Payable["kind"][];
  /** How it is called; anyhow where it is left out. */
  readonly type?: ResourceType | undefined;
  readonly network?: string;
  readonly asset?: string;
  readonly payTo?: string;
  readonly scheme?: string;
  /** Key of a payable's extensions, such as `bazaar`. */
  readonly extension?: string;
  /** What it is priced in: a currency, or a stablecoin. */
  readonly currency?: string;
  /** Highest price, at the decimals of a USD price; leaves out what is not priced in dollars. */
  readonly maxUsdPrice?: bigint;
  /** Only what answered its last probe well. */
  readonly live?: boolean;
  readonly query?: string;
  readonly limit: number;
  readonly offset: number;
  /** `page`: `total` says no more than whether another page follows; counting a large index takes its time. */
  readonly count?: "all" | "page";
}

/** Everything the rooms outside may ask of the centre. */
export interface Facilitator {
  quote(target: PaymentRequest["target"]): Promise<Quote | null>;
  /** As `quote`, and what may be done with it; null for an id that names nothing. */
  offer(target: PaymentRequest["target"]): Promise<Offer | null>;
  verify(request: PaymentRequest): Promise<VerifyAnswer>;
  settle(request: PaymentRequest, caller: { readonly closed: AbortSignal }): Promise<SettleAnswer>;
  /** Take back a success that never reached its caller: the response closed before its headers were flushed. */
  releaseGrant(paymentId: string, requestId: string): Promise<void>;
  status(paymentId: string): Promise<SettlementStatus | null>;
  /** The same for a payer who holds no id, only what was signed or sent. */
  lookup(ref: PaymentRef): Promise<PaymentLookup>;
  /** Id of what an authorization pays, from its claim on and for ever; null while nobody has claimed it. */
  boundTo(signed: SignedRef): Promise<string | null>;
  /** Networks that work right now; with an id only those of that payable, null when there is none. */
  supported(payableId?: string): Promise<Supported | null>;
  /** Where something new can be paid now. */
  rails(): readonly RailFacts[];
  /** Every chain that is served. What was paid or decided there goes on, whatever `rails()` offers. */
  chains(): readonly ChainFacts[];
  refusedRails(): readonly RefusedRail[];
  discover(query: DiscoverQuery): Promise<{ readonly items: readonly Discovered[]; readonly total: number }>;
  /** Facts about a payable that its merchant cannot write. */
  trust(payableId: string): Promise<Trust>;
  /** Create or replace what is for sale; joins the merchant feature's transaction. */
  project(tx: Tx, payable: Payable): Promise<void>;
  /** Free what can be paid once from the payment that was credited for it: a thing of which a few can be paid is paid by one
   *  after the other. A payment under way keeps it. In one transaction with `project` it comes after. */
  readmit(tx: Tx, payableId: string): Promise<void>;
  /** What can be paid once, by whom ever: the one place where ways to pay it meet. */
  readonly once: {
    /** Holds it for a payment whose money came by itself; false when something else holds it, or it is closed. Joins the
     *  transaction that saw the money. */
    take(tx: Tx, held: { readonly payableId: string; readonly payment: string }): Promise<boolean>;
    /** Gives it back when that payment ended unpaid. */
    leave(tx: Tx, held: { readonly payableId: string; readonly payment: string }): Promise<void>;
    /** Who holds it; nobody else begins to until the transaction ends. */
    lock(tx: Tx, payableId: string): Promise<Holder | null>;
  };
  /** Write down what a probe found out about a payable. In one transaction with `project` it comes first. */
  assess(tx: Tx, payableId: string, found: Assessment): Promise<void>;
  /** Count these wallets no more among those that pay their merchants. */
  noteOwnWallets(tx: Tx, wallets: readonly OwnWallet[]): Promise<void>;
  /** Forget wallets that have not paid for long; to be called now and then. */
  tidy(): Promise<void>;
  /** Whether a contract stands at an address of a chain (its slug). Asks the chain: never inside a transaction. Fault:
   *  `chain_unavailable`. */
  hasCode(chain: string, account: Address): Promise<boolean>;
  /** Whether an account of a chain (its slug) signed a text: by its key, or by the word of the contract that stands there
   *  (ERC-1271). Asks the chain: never inside a transaction. Fault: `chain_unavailable`. */
  isSignedBy(chain: string, signed: SignedText): Promise<boolean>;
  /** Payments by authorization, of all merchants, by their ids, or by payables that can be paid once (all attempts at
   *  one), or the latest that were credited for one payable; unknown ids are left out. */
  payments(by: PaymentChoice): Promise<readonly PaymentView[]>;
  /** Money that payers send by themselves: to an address of its own per order, or through the payment router. */
  readonly deposits: {
    /** Registers and signs an order and watches for its money from the caller's commit on, for 90 days. Asserts that the
     *  chain, its rail and, where it is paid through one, its router are there: choose from `rails()`. */
    open(tx: Tx, order: DepositOrder): Promise<OpenedOrder>;
    /** The same order, same terms, signed for another deadline. */
    resign(tx: Tx, orderId: string, expiresAt: Date): Promise<OpenedOrder>;
    /** What reached the orders of these subjects, by the canonical chain as we follow it. In a transaction it stays so
     *  until that ends. */
    arrivals(db: Tx | Executor, subjects: readonly string[]): Promise<readonly Arrival[]>;
    /** Marks logs as booked by the caller in this transaction: one log pays one thing. Asserts that each reached an
     *  order, is canonical and not taken. */
    take(tx: Tx, logs: readonly Pick<Arrival, "chain" | "blockHash" | "logIndex">[]): Promise<void>;
  };
  /** Money that leaves the treasury: payouts, refunds, returns. */
  readonly outgoing: {
    /** Reserves it in the books and queues it, in the feature's transaction. Overdrawing fails that transaction with
     *  SQLSTATE 23514 on `ledger_balance_bounded`. Fault: `recipient_is_ours`. */
    queue(tx: Tx, order: OutgoingOrder): Promise<void>;
    /** Whether `queue` would refuse this recipient: for what is decided now and queued later. */
    isOurs(db: Tx | Executor, order: Pick<OutgoingOrder, "chainId" | "recipient">): Promise<boolean>;
    /** False once the treasury has signed it, or once it is seen to have left before the books were put back. */
    cancel(tx: Tx, id: string): Promise<boolean>;
    /** In a transaction that changes them: as it leaves them. */
    status(ids: readonly string[], db?: Executor): Promise<readonly OutgoingStatus[]>;
  };
}

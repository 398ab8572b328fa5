import { type Address, checksum, type Hash } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import type {
  AuthorizationRead,
  AuthorizationState,
  BlockRef,
  Call,
  Chain,
  MoneyLog,
  Revert,
} from "../../chain/port.ts";
import { isTaken } from "../../chain/rails.ts";
import type { PaymentOption } from "../../payable/payable.ts";
import { optionsOf, selectOption } from "../../payable/requirements.ts";
import type { Reason, Refusal } from "../../scheme/reasons.ts";
import { type Budgets, type Priced, priced } from "../budget/budgets.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import type { OpenChain } from "../engine.ts";
import { pairTransfers } from "../observer/pairing.ts";
import { type ReadAuthorization, readAlone } from "./chain-read.ts";
import { stateOf } from "./offer.ts";
import type { DemandCalls } from "./spare-calls.ts";
import type { Understood } from "./understand.ts";

/** The reference's own margin on `validBefore`, seconds; what inclusion takes on the chain comes on top. */
const SDK_MARGIN_SECONDS = 6;

/** How long after the time that the 402 gives a payment may hold what can be paid once. */
const LONGEST_HOLD_SECONDS = 3_600;

/** What a fresh look found: an option of ours that this authorization pays. `alreadyUsed`: a stranger has executed it
 *  and the money is with us; it only has to be claimed. */
export interface Examined {
  readonly option: PaymentOption;
  readonly alreadyUsed: boolean;
  /** How the gas budgets stood; null where no gas is needed any more. */
  readonly standings: Priced | null;
}

/** What an authorization moved, and to whom. Atomic units. */
export interface Paid {
  readonly amount: bigint;
  readonly payTo: Address;
}

export interface Looking {
  readonly reader: (chainId: number) => ReadAuthorization;
  readonly demandCalls: DemandCalls;
  /** On a chain that a person has to look at first, or in a token that nobody follows, what is claimed would only hang. */
  readonly isClosed: (chainId: number, token: Address) => Promise<boolean>;
  readonly budgets: Budgets;
  readonly recordedUse: (chainId: number, token: Address, claimKey: Hash) => Promise<RecordedUse>;
  readonly loadClaim: (claimKey: Hash) => Promise<ToldClaim | null>;
}

/** What our own observer knows of an authorization's use, and the height from which the chain must be asked. */
export interface RecordedUse {
  readonly paid: Paid | null;
  readonly fromBlock: number;
}

/** Step S2 of settlement.md: what can go stale. Cheap checks first, then one shared chain read. Verify and settle use
 *  the same list, so verify predicts settle. Faults: `chain_unavailable`, and of verify `rate_limited`. */
export async function examine(looking: Looking, it: Understood): Promise<Examined | Refusal> {
  if (isHeldByAnother(it)) return heldRefusal(looking, it);
  const option = pausedRefusal(it) ?? matchOption(it);
  if ("reason" in option) return option;
  const cheap = checkTerms(it, option);
  if (cheap) return cheap;
  const { chain } = it.open;
  const { chainId, slug } = chain.row;
  if (await looking.isClosed(chainId, it.rail.token.contract))
    throw fault("chain_unavailable", { chain: slug });
  const [state, standings] = await Promise.all([readState(looking, it), looking.budgets.read(it)]);
  if (state.used)
    return (await wasUsedForUs(looking, it))
      ? { option, alreadyUsed: true, standings: null }
      : usedElsewhere(it);
  const refusal =
    checkExpiry(it, state.block.timestamp) ??
    checkLifetime(it, state.block.timestamp) ??
    checkStart(it, state.block.timestamp) ??
    checkMoney(it, option, state);
  if (refusal) return refusal;
  return { option, alreadyUsed: false, standings: priced(standings, it, state.block.baseFeePerGas) };
}

function isHeldByAnother({ payable, claimKey, known }: Understood): boolean {
  return payable.once && payable.heldBy !== null && payable.heldBy !== claimKey && !known.claim;
}

/** Who is told to wait for what is paid already waits for nothing. */
async function heldRefusal(looking: Looking, { payable }: Understood): Promise<Refusal> {
  const { state } = await stateOf(looking, payable);
  if (state === "paid") return paidRefusal;
  return underWayRefusal;
}

const underWayRefusal: Refusal = {
  reason: "invalid_payment_requirements",
  message: "Another payment of this is under way; it can be paid once. Nothing was charged.",
};

const paidRefusal: Refusal = {
  reason: "invalid_payment_requirements",
  message: "It is paid already, by another payment; it can be paid once. Nothing was charged.",
};

/** What was claimed before is a repeat, and answered from its rows. */
function pausedRefusal({ rail, open }: Understood): Refusal | null {
  if (rail.paused === null) return null;
  const { slug, network } = open.chain.row;
  return {
    reason: "invalid_transaction_state",
    message: `The contract of ${rail.token.symbol} on ${slug} (${network}) has changed: nothing new is paid in it until an operator has looked. Choose another option of the 402. Nothing was charged.`,
  };
}

function matchOption({ payable, open, request }: Understood): PaymentOption | Refusal {
  if (payable.closedAt) {
    if (payable.closedAs === "paid") return paidRefusal;
    if (payable.closedAs === "pending") return underWayRefusal;
    return {
      reason: "invalid_payment_requirements",
      message: "This is no longer for sale. Nothing was charged.",
    };
  }
  const options = optionsOf(payable, allRails(open));
  const option = selectOption(options, request.selection);
  if (option) return option;
  const offered = options.map(({ amount, symbol, asset }) => `${amount} of ${symbol} (${asset})`).join(", ");
  return {
    reason: "invalid_payment_requirements",
    message: `No option of ours has this asset, amount and payTo. Offered on ${open.chain.row.network}: ${offered || `nothing (the least amount taken there is ${open.chain.row.dustFloor})`}, to ${open.chain.row.treasury}. Ask for the price again.`,
  };
}

export function allRails({ chain, rails }: OpenChain) {
  return rails.filter(isTaken).map((rail) => ({ chain: chain.row, rail }));
}

function checkTerms({ authorization }: Understood, option: PaymentOption): Refusal | null {
  if (authorization.payTo !== option.payTo) {
    return {
      reason: "invalid_exact_evm_recipient_mismatch",
      message: `The authorization pays ${authorization.payTo}, expected ${option.payTo}. Sign again for the payTo of the 402.`,
    };
  }
  if (authorization.value !== option.amount) {
    return {
      reason: "invalid_exact_evm_payload_authorization_value_mismatch",
      message: `The authorization is over ${authorization.value} atomic units, expected exactly ${option.amount}. Sign again for that amount.`,
    };
  }
  return null;
}

/** Seconds that `validBefore` must outlive the chain's time by. */
export function freshnessFloor(chain: Chain): bigint {
  return BigInt(SDK_MARGIN_SECONDS + chain.row.inclusionSeconds);
}

function checkExpiry({ authorization, open }: Understood, chainTime: number): Refusal | null {
  const floor = freshnessFloor(open.chain);
  if (authorization.validBefore >= BigInt(chainTime) + floor) return null;
  return {
    reason: "invalid_exact_evm_payload_authorization_valid_before",
    message: `validBefore is ${authorization.validBefore}; the chain's time is ${chainTime} and ${floor} seconds are needed to settle. Sign again with a later validBefore.`,
  };
}

/** What can be paid once is held for a payment until that can never be charged any more: nobody may hold it for years. */
function checkLifetime({ authorization, payable }: Understood, chainTime: number): Refusal | null {
  const latest = BigInt(chainTime + payable.maxTimeoutSeconds + LONGEST_HOLD_SECONDS);
  if (!payable.once || authorization.validBefore <= latest) return null;
  return {
    reason: "invalid_exact_evm_payload_authorization_valid_before",
    message: `validBefore is ${authorization.validBefore}, and may be ${latest} at most: this can be paid once, and is held for your payment until then. Sign again with an earlier validBefore.`,
  };
}

function checkStart({ authorization }: Understood, chainTime: number): Refusal | null {
  if (authorization.validAfter < BigInt(chainTime)) return null;
  return {
    reason: "invalid_exact_evm_payload_authorization_valid_after",
    message: `validAfter is ${authorization.validAfter} and must lie before the chain's time, ${chainTime}. Wait, or sign again with an earlier one.`,
  };
}

function checkMoney(
  { authorization, known, open, rail }: Understood,
  option: PaymentOption,
  state: AuthorizationState,
): Refusal | null {
  // A claim that is being looked at again is itself among the payer's open ones only while it is open.
  const needed = option.amount + known.openAmount;
  if (state.balance !== null && state.balance < needed) {
    return {
      reason: "insufficient_funds",
      message: fundsMessage({ payer: authorization.payer, balance: state.balance, needed }, open, rail),
    };
  }
  if (state.transfer.ok) return null;
  return { reason: revertReason(state.transfer.revert), message: revertMessage(state.transfer.revert) };
}

interface Funds {
  readonly payer: Address;
  readonly balance: bigint;
  readonly needed: bigint;
}

/** The same account has another balance on each chain, and each token of one name: which is meant is said in full. */
function fundsMessage(
  { payer, balance, needed }: Funds,
  { chain: { row } }: Understood["open"],
  { token: { symbol, contract, decimals } }: Understood["rail"],
): string {
  const shown = (amount: bigint) => `${formatDecimal(amount, decimals)} ${symbol} (atomic: ${amount})`;
  return `On ${row.slug} (${row.network}) ${payer} holds ${shown(balance)} of the token ${checksum(contract)}; ${shown(needed)} are needed, open payments included. Fund the account there and send the same payment again.`;
}

/** Total: every way a token call fails, as a reason of the protocol. */
export function revertReason(revert: Revert): Reason {
  const reasons = {
    "insufficient-balance": "insufficient_funds",
    "authorization-used": "invalid_exact_evm_nonce_already_used",
    "authorization-not-yet-valid": "invalid_exact_evm_payload_authorization_valid_after",
    "authorization-expired": "invalid_exact_evm_payload_authorization_valid_before",
    "bad-signature": "invalid_exact_evm_signature",
    paused: "invalid_transaction_state",
    blocked: "invalid_transaction_state",
    "out-of-gas": "invalid_exact_evm_transaction_simulation_failed",
    unknown: "invalid_exact_evm_transaction_simulation_failed",
  } as const satisfies Record<Revert, Reason>;
  return reasons[revert];
}

export function revertMessage(revert: Revert): string {
  const messages = {
    "insufficient-balance":
      "The payer does not hold enough of the token. Fund the account and send the same payment again.",
    "authorization-used": "The authorization's nonce is used. Sign again with a fresh nonce.",
    "authorization-not-yet-valid": "The authorization is not valid yet. Wait until validAfter has passed.",
    "authorization-expired": "The authorization has expired. Sign again.",
    "bad-signature": "The token refuses the signature. Sign again with the payer's key.",
    paused: "The token is paused by its issuer. Try again later.",
    blocked: "The token's issuer blocks the payer or the recipient. Pay from another account.",
    "out-of-gas":
      "The payer's contract uses more gas than is allowed for one payment. Pay from another account.",
    unknown: "The token call would fail on chain. Check the payer's account, then sign again.",
  } as const satisfies Record<Revert, string>;
  return messages[revert];
}

async function readState(looking: Looking, it: Understood): Promise<AuthorizationState> {
  const { authorization, open, rail, scheme, claimKey } = it;
  const token = rail.token.contract;
  const item = {
    claimKey,
    token,
    payer: authorization.payer,
    nonce: authorization.nonce,
    transfer: scheme.call(token, authorization, it.payerHasCode),
    // What the payer has under way needs more than what this transfer moves.
    asksBalance: it.known.openAmount > 0n,
  };
  const state = await read(looking, it, item);
  if (state.isDisputed) throw fault("chain_unavailable", { chain: open.chain.row.slug });
  return state;
}

/** A contract wallet is read alone: it could burn the gas of everybody who is read with it. So is an account that has
 *  signed with its key and is delegated to code: the token asks that code about the signature, whatever the key says. */
async function read(
  looking: Looking,
  { authorization, open, rail, scheme, payerHasCode }: Understood,
  item: Parameters<ReadAuthorization>[0],
): Promise<AuthorizationState> {
  const { chain, laneAddresses } = open;
  looking.demandCalls(chain);
  const alone = (transfer: Call) => readAlone(chain, laneOf(laneAddresses), { ...item, transfer });
  if (payerHasCode) return alone(item.transfer);
  const state = await looking.reader(chain.row.chainId)(item);
  if (!state.payerHasCode) return state;
  looking.demandCalls(chain);
  return alone(scheme.call(rail.token.contract, authorization, rail.hasBytesOverload));
}

export function laneOf(addresses: readonly Address[]): Address {
  const [first] = addresses;
  if (!first) throw new Error("a chain has no lane address");
  return first;
}

/** Whether the used authorization moved its value to our payTo, by the event pair in a canonical block. */
async function wasUsedForUs(
  looking: Looking,
  { open, rail, authorization, claimKey }: Understood,
): Promise<boolean> {
  const { chainId } = open.chain.row;
  const recorded = await looking.recordedUse(chainId, rail.token.contract, claimKey);
  const wanted = { amount: authorization.value, payTo: authorization.payTo };
  if (recorded.paid) return isSamePayment(recorded.paid, wanted);
  looking.demandCalls(open.chain);
  const use = {
    ...wanted,
    token: rail.token.contract,
    payer: authorization.payer,
    nonce: authorization.nonce,
    claimKey,
  };
  return (await findUse(open.chain, { ...use, fromBlock: recorded.fromBlock })).kind === "paid";
}

export type Use =
  | { readonly kind: "paid" }
  | { readonly kind: "elsewhere"; readonly block: BlockRef }
  | { readonly kind: "not-found" };

const isSamePayment = (a: Paid, b: Paid) => a.amount === b.amount && a.payTo === b.payTo;

/** What a used nonce was used for: to make this very payment, or for something else (cancelled, paid elsewhere, or
 *  signed a second time for another amount). */
export async function findUse(
  chain: Chain,
  use: Paid & { token: Address; payer: Address; nonce: Hash; claimKey: Hash; fromBlock: number },
): Promise<Use> {
  const { chainId } = chain.row;
  const block = await chain.findAuthorizationUse(use);
  if (!block) return { kind: "not-found" };
  const logs = (await chain.moneyLogs(block, [use.payTo])) ?? [];
  // Found by one endpoint's word: only what the block's own logs show counts.
  if (!logs.some((log) => spends(log, use))) return { kind: "not-found" };
  const pairs = pairTransfers(chainId, logs);
  const paid = pairs.some(
    ({ authorizationKey, to, amount }) =>
      authorizationKey === use.claimKey && isSamePayment({ amount, payTo: to }, use),
  );
  return paid ? { kind: "paid" } : { kind: "elsewhere", block };
}

function spends(
  log: MoneyLog,
  { token, payer, nonce }: Pick<AuthorizationRead, "token" | "payer" | "nonce">,
) {
  const isSpent = log.event === "authorization-used" || log.event === "authorization-canceled";
  return isSpent && log.token === token && log.payer === payer && log.nonce === nonce;
}

function usedElsewhere({ authorization }: Understood): Refusal {
  return {
    reason: "invalid_exact_evm_nonce_already_used",
    message: `The nonce ${authorization.nonce} of ${authorization.payer} is used or cancelled on chain, and paid nothing here. Sign again with a fresh nonce.`,
  };
}

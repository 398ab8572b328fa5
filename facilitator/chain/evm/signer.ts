import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type Address, address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { keccak256 } from "#kernel/keccak";
import type { Call, Signer, TransactionRequest } from "../port.ts";
import type { ChainRow } from "../registry.ts";
import { AGGREGATE3, packAggregate3, unpackCalls } from "./multicall.ts";
import { type Transaction, transactionBytes } from "./transaction.ts";

/** transferWithAuthorization, signed by v, r, s: selector and nine words, nothing else. */
const KEY_FORM = { selector: "0xe3ee160e", leastDigits: 2 + 8 + 9 * 64, mostDigits: 2 + 8 + 9 * 64 };
/** transferWithAuthorization, signed by bytes: eight words and a signature of up to 8 kB. */
const BYTES_FORM = {
  selector: "0xcf092995",
  leastDigits: 2 + 8 + 8 * 64,
  mostDigits: 2 + 8 + 8 * 64 + 16_384,
};

/** Signs with one gas key, for the chains of `chains` only, and by their rows: what the caller's row says is not
 *  believed. Throws on a key that is none. Source: settlement.md §13. */
export function localSigner(privateKey: string, chains: readonly ChainRow[]): Signer {
  const account = accountOf(privateKey);
  const self = address(account.address);
  const rowOf = ({ chainId }: ChainRow) => chains.find((chain) => chain.chainId === chainId);
  const refusal: Signer["refusal"] = (chain, request) => {
    const row = rowOf(chain);
    return row ? refusalOf(row, self, request) : `chain ${chain.chainId} is not configured`;
  };
  return {
    address: self,
    refuses: (chain, call) => {
      const row = rowOf(chain);
      return !row || !isTransfer(row, call);
    },
    refusal,
    sign: async (chain, request) => {
      const row = rowOf(chain);
      const problem = refusal(chain, request);
      if (!row || problem) throw new Error(`the signer refused a transaction: ${problem}`);
      const transaction = transactionOf(row, request);
      const signature = await account.sign({ hash: hashOf(transactionBytes(transaction)) });
      const raw = transactionBytes(transaction, signature);
      return { raw: fromBytes(raw), hash: hashOf(raw) };
    },
  };
}

/** A batch is a hundred kilobytes: hashed by the native part, twice. */
function hashOf(bytes: Uint8Array): Hash {
  return fromBytes(keccak256(bytes)) as Hash;
}

/** The address that a private key signs for. Throws on a key that is none. */
export function addressOf(privateKey: string): Address {
  return address(accountOf(privateKey).address);
}

/** Why this is not among the transactions that a gas key signs, or null. */
function refusalOf(row: ChainRow, self: Address, request: TransactionRequest): string | null {
  const { nonce, calls, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = request;
  if (!Number.isSafeInteger(nonce) || nonce < 0) return "its nonce is no nonce";
  if (gasLimit <= 0n || gasLimit > row.transactionGasCap) return "its gas limit is above the chain's cap";
  if (maxFeePerGas <= 0n || maxFeePerGas > row.maxFeePerGasCap) return "its fee is above the chain's cap";
  if (maxPriorityFeePerGas < 0n || maxPriorityFeePerGas > maxFeePerGas) return "its tip is above its fee";
  const [only, ...more] = calls;
  if (!only) return "it has no call";
  if (more.length > 0) return batchRefusal(row, calls);
  return isNoOp(only, self) ? null : callRefusal(row, only);
}

function callRefusal(row: ChainRow, call: Call): string | null {
  if (isTransfer(row, call)) return null;
  const inner = call.to === row.multicall && call.data.startsWith(AGGREGATE3) ? unpackCalls(call.data) : null;
  return inner ? batchRefusal(row, inner) : "it calls something else than a listed token's transfer";
}

function batchRefusal(row: ChainRow, calls: readonly Call[]): string | null {
  if (row.multicall === null) return "the chain has no Multicall3";
  if (calls.length > row.batchLimit) return "it has more calls than the chain's batch limit";
  return calls.length > 0 && calls.every((call) => isTransfer(row, call))
    ? null
    : "its batch holds something else than listed tokens' transfers";
}

function isTransfer(row: ChainRow, { to, data }: Call): boolean {
  const form = [KEY_FORM, BYTES_FORM].find(({ selector }) => data.startsWith(selector));
  if (!form || !/^0x[0-9a-f]*$/.test(data) || data.length % 2 !== 0) return false;
  if (data.length < form.leastDigits || data.length > form.mostDigits) return false;
  return row.tokens.some(({ contract }) => contract === to);
}

/** Sends nothing to itself: fills a nonce that would hold up those behind it. */
function isNoOp({ to, data }: Call, self: Address): boolean {
  return to === self && data === "0x";
}

function transactionOf(row: ChainRow, request: TransactionRequest): Transaction {
  const { calls, ...terms } = request;
  const [only, ...more] = calls;
  const { to, data } = more.length === 0 && only ? only : { to: row.multicall, data: packAggregate3(calls) };
  assert(to, "a batch was refused where nothing can run it");
  return { ...terms, chainId: row.chainId, to, data };
}

function accountOf(privateKey: string): PrivateKeyAccount {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey)?.[1];
  if (!digits) throw new TypeError("a private key is 32 bytes of hex"); // the key itself is never shown
  try {
    return privateKeyToAccount(`0x${digits}` as Hex);
  } catch {
    throw new TypeError("a private key is a number between 1 and the order of the curve");
  }
}

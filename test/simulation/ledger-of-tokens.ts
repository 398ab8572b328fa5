/** What the tokens of a made-up chain hold: balances and used authorizations, with everything undoable. */
import type { Address, Hash } from "#kernel/bytes";
import type { Revert } from "../../facilitator/chain/port.ts";

export interface Authorization {
  readonly token: Address;
  readonly payer: Address;
  readonly payTo: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hash;
}

export interface TokenState {
  balanceOf(token: Address, account: Address): bigint;
  isUsed(token: Address, payer: Address, nonce: Hash): boolean;
  /** In no block: no fork takes it away. */
  mint(token: Address, account: Address, amount: bigint): void;
  /** Null when it went through. */
  transfer(token: Address, from: Address, to: Address, amount: bigint): Revert | null;
  authorized(authorization: Authorization, timestamp: number): Revert | null;
  /** A mark to come back to. */
  mark(): number;
  undoTo(mark: number): void;
}

export function tokenState(): TokenState {
  const balances = new Map<string, bigint>();
  const used = new Set<string>();
  const journal: (() => void)[] = [];
  const balanceOf = (token: Address, account: Address) => balances.get(token + account) ?? 0n;

  function add(token: Address, account: Address, amount: bigint): void {
    balances.set(token + account, balanceOf(token, account) + amount);
  }

  function move(token: Address, account: Address, amount: bigint): void {
    add(token, account, amount);
    journal.push(() => add(token, account, -amount));
  }

  function transfer(token: Address, from: Address, to: Address, amount: bigint): Revert | null {
    if (balanceOf(token, from) < amount) return "insufficient-balance";
    move(token, from, -amount);
    move(token, to, amount);
    return null;
  }

  return {
    balanceOf,
    isUsed: (token, payer, nonce) => used.has(token + payer + nonce),
    mint: add,
    transfer,
    authorized({ token, payer, payTo, value, validAfter, validBefore, nonce }, timestamp) {
      if (used.has(token + payer + nonce)) return "authorization-used";
      if (BigInt(timestamp) <= validAfter) return "authorization-not-yet-valid";
      if (BigInt(timestamp) >= validBefore) return "authorization-expired";
      const problem = transfer(token, payer, payTo, value);
      if (problem) return problem;
      used.add(token + payer + nonce);
      journal.push(() => used.delete(token + payer + nonce));
      return null;
    },
    mark: () => journal.length,
    undoTo(mark) {
      while (journal.length > mark) journal.pop()?.();
    },
  };
}

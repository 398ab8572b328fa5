/** A token as EIP-3009 has it, as it stood behind one block: copied from block to block, so that every fork and every
 *  lagging view has its own. */
import { type Address, address, type Hash, type Hex, hash } from "#kernel/bytes";
import type { Call, MoneyLog, Revert } from "../../../facilitator/chain/port.ts";

/** A log without its place. */
export type Said = MoneyLog extends infer Log
  ? Log extends MoneyLog
    ? Omit<Log, keyof Place>
    : never
  : never;
export type Place = Pick<MoneyLog, "blockNumber" | "blockHash" | "txHash" | "logIndex">;

/** A call of transferWithAuthorization, decoded. */
export interface Transfer {
  readonly token: Address;
  readonly payer: Address;
  readonly payTo: Address;
  readonly value: bigint;
  readonly validAfter: number;
  readonly validBefore: number;
  readonly nonce: Hash;
  /** r and s. */
  readonly signature: string;
}

/** Signatures that somebody made, with the account whose they are: all that the made-up token knows of the curve. */
export type Signatures = ReadonlyMap<string, Address>;

export class Token {
  readonly balances: Map<Address, bigint>;
  readonly used: Set<string>;
  readonly code: Set<Address>;

  constructor(before?: Token) {
    this.balances = new Map(before?.balances);
    this.used = new Set(before?.used);
    this.code = new Set(before?.code);
  }

  balanceOf(account: Address): bigint {
    return this.balances.get(account) ?? 0n;
  }

  isUsed(payer: Address, nonce: Hash): boolean {
    return this.used.has(payer + nonce);
  }

  /** Why a transfer would fail in a block of that time, or null. */
  refusal(call: Transfer, timestamp: number, signatures: Signatures): Revert | null {
    if (timestamp <= call.validAfter) return "authorization-not-yet-valid";
    if (timestamp >= call.validBefore) return "authorization-expired";
    if (this.isUsed(call.payer, call.nonce)) return "authorization-used";
    // A key's signature is none of an account that has become a contract.
    if (signatures.get(call.signature) !== call.payer || this.code.has(call.payer)) return "bad-signature";
    return this.balanceOf(call.payer) < call.value ? "insufficient-balance" : null;
  }

  execute(call: Transfer): readonly Said[] {
    const { token, payer, payTo, value, nonce } = call;
    this.used.add(payer + nonce);
    return [{ event: "authorization-used", token, payer, nonce }, ...this.move(token, payer, payTo, value)];
  }

  move(token: Address, from: Address, to: Address, amount: bigint): readonly Said[] {
    this.balances.set(from, this.balanceOf(from) - amount);
    this.balances.set(to, this.balanceOf(to) + amount);
    return [{ event: "transfer", token, from, to, amount }];
  }
}

const FORMS = ["0xe3ee160e", "0xcf092995"];

/** Null for any other call. */
export function decodeTransfer({ to: token, data }: Call): Transfer | null {
  if (!FORMS.includes(data.slice(0, 10))) return null;
  const word = (at: number) => data.slice(10 + at * 64, 74 + at * 64);
  const account = (at: number) => address(`0x${word(at).slice(24)}`);
  const number = (at: number) => BigInt(`0x${word(at)}` as Hex);
  return {
    token,
    payer: account(0),
    payTo: account(1),
    value: number(2),
    validAfter: Number(number(3)),
    validBefore: Number(number(4)),
    nonce: hash(`0x${word(5)}`),
    // v, r, s; or an offset, a length and the bytes.
    signature: data.startsWith("0xe3ee160e") ? word(7) + word(8) : word(8) + word(9),
  };
}

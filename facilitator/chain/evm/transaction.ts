import { numberToBytes, parseSignature, toRlp } from "viem";
import { type Address, type Hex, toBytes } from "#kernel/bytes";

/** What a gas key signs: of EIP-1559, with no value and no access list. Fees in wei. */
export interface Transaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

const TYPE = Uint8Array.of(2);
const NOTHING = new Uint8Array(0);

/** The bytes that are signed, or that are sent once they are. viem writes a transaction as hex, digit by digit: for the
 *  hundred kilobytes of a batch that was megabytes of text for the collector, twice. Source: EIP-1559. */
export function transactionBytes(transaction: Transaction, signature?: Hex): Buffer {
  const { chainId, nonce, to, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const terms = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit].map(quantity);
  const fields = [...terms, toBytes(to), NOTHING, toBytes(data), []];
  return Buffer.concat([TYPE, toRlp([...fields, ...(signature ? signed(signature) : [])], "bytes")]);
}

function signed(signature: Hex): readonly Uint8Array[] {
  const { yParity, r, s } = parseSignature(signature);
  return [yParity, BigInt(r), BigInt(s)].map(quantity);
}

/** Without leading zeros: none at all is left of 0. */
function quantity(value: number | bigint): Uint8Array {
  return BigInt(value) === 0n ? NOTHING : numberToBytes(value);
}

import type { Address, Hex } from "#kernel/bytes";
import type { BlockRef, Call } from "../port.ts";
import { hexData, MalformedAnswer, toQuantity } from "./answer.ts";
import { newestBlock, newestSeen } from "./blocks.ts";
import type { RpcError } from "./client.ts";
import type { Room } from "./room.ts";

/** How an `eth_call` ended. A node that could not run it is not an execution: that rejects. */
export type Execution =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly data: Hex; readonly outOfGas: boolean };

/** A sender who can pay for any gas, for where the node checks the sender's money. */
const RICH = toQuantity(1n << 100n);
const FAILED_EXECUTION =
  /revert|out of ?gas|intrinsic gas|invalid (?:opcode|jump)|bad jump|stack (?:under|over)flow|EVM error|VM execution/i;
const OUT_OF_GAS = /out of ?gas|intrinsic gas/i;
const NO_GAS_MONEY = /insufficient (?:funds|balance)|out ?of ?funds/i;
const FEE_TOO_LOW = /base ?fee|fee cap|gas ?price/i;

/** A plain read: no sender, no fee. Null where the contract refused or there is none. */
export async function view(room: Room, { to, data }: Call, block: string = "latest"): Promise<Hex | null> {
  const reply = await room.rpc.ask({ method: "eth_call", params: [{ to, data }, block], parse: hexData });
  if (reply.ok) return reply.value === "0x" ? null : reply.value;
  if (isExecutionFailure(reply.error)) return null;
  throw unusable(room, reply.error);
}

/** What a plain read that must succeed reverts with; null when it succeeds. */
export async function viewFailure(room: Room, { to, data }: Call): Promise<Hex | null> {
  const reply = await room.rpc.ask({ method: "eth_call", params: [{ to, data }, "latest"], parse: hexData });
  if (reply.ok) return null;
  if (isExecutionFailure(reply.error)) return reply.error.data ?? "0x";
  throw unusable(room, reply.error);
}

/** Runs a call as a transaction would: with its sender, its gas limit and a gas price above the base fee, because
 *  a contract can tell a call without a fee and answer it differently. */
export async function execute(
  room: Room,
  { from, to, data, gas }: Call & { readonly from: Address; readonly gas: bigint },
  block: string = "latest",
): Promise<Execution> {
  const call = (priced: BlockRef) => ({ from, to, data, gas: toQuantity(gas), gasPrice: gasPrice(priced) });
  const rich = { [from]: { balance: RICH } };
  let params: readonly unknown[] = [call(await newestSeen(room)), block];
  // Each of the two remedies once: the node's base fee ran ahead of ours; the sender has too little for so much gas.
  for (let remedies = 2; ; remedies--) {
    const reply = await room.rpc.ask({ method: "eth_call", params, parse: anyHex });
    if (reply.ok) return { ok: true, data: reply.value };
    const { error } = reply;
    if (isExecutionFailure(error)) {
      return { ok: false, data: error.data ?? "0x", outOfGas: OUT_OF_GAS.test(error.message) };
    }
    if (remedies > 0 && NO_GAS_MONEY.test(error.message)) params = [params[0], block, rich];
    else if (remedies > 0 && FEE_TOO_LOW.test(error.message)) {
      params = [call(await newestBlock(room)), ...params.slice(1)];
    } else throw unusable(room, error);
  }
}

/** Nothing where the token did not stand yet: whoever deploys today follows the chain from a block before. */
export async function readBalance(
  room: Room,
  { token, account, block }: { token: Address; account: Address; block: string },
): Promise<bigint> {
  const balance = await room.rpc.request({
    method: "eth_call",
    params: [{ to: token, data: balanceOf(account) }, block],
    parse: (value) => (value === "0x" ? null : uint(hexData(value))),
  });
  if (balance !== null) return balance;
  // Now every token that is asked about stands.
  if (block === "latest") throw noBalance(room);
  const code = await room.rpc.request({ method: "eth_getCode", params: [token, block], parse: hexData });
  if (code === "0x") return 0n;
  throw noBalance(room);
}

function noBalance({ rpc }: Room): Error {
  return rpc.unavailable(new MalformedAnswer("no number"));
}

/** Calldata of balanceOf(address). */
export function balanceOf(account: Address): Hex {
  return `0x70a08231000000000000000000000000${account.slice(2)}`;
}

/** A lone returned number. Throws when the contract returned anything else. */
export function uint(data: Hex): bigint {
  if (data.length !== 66) throw new MalformedAnswer("no number");
  return BigInt(data);
}

function unusable(room: Room, error: RpcError): Error {
  return room.rpc.unavailable(new Error(`eth_call: ${error.code} ${error.message}`));
}

function gasPrice(block: BlockRef): Hex {
  const price = block.baseFeePerGas * 2n;
  return toQuantity(price > 0n ? price : 1n);
}

function isExecutionFailure({ code, message, data }: RpcError): boolean {
  return code === 3 || data !== null || FAILED_EXECUTION.test(message);
}

/** Long answers are read by a decoder that is strict itself; looking at every digit twice would cost more than it. */
function anyHex(value: unknown): Hex {
  if (typeof value !== "string" || !value.startsWith("0x")) throw new MalformedAnswer("no bytes");
  return value.toLowerCase() as Hex;
}

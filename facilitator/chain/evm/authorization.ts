import type { Address, Hash, Hex } from "#kernel/bytes";
import type { BlockRef } from "../port.ts";
import { fields, hash32, list, toQuantity } from "./answer.ts";
import { blockOfHash, newestBlock } from "./blocks.ts";
import { execute } from "./call.ts";
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED } from "./logs.ts";
import { addressWord, word } from "./multicall.ts";
import type { Room } from "./room.ts";

/** isValidSignature(bytes32,bytes), and the answer that means yes: the selector, then nothing. */
const IS_VALID_SIGNATURE = "0x1626ba7e";
const MAGIC: Hex = `${IS_VALID_SIGNATURE}${"0".repeat(56)}`;
const WALLET_GAS = 300_000n;
const NOBODY = `0x${"0".repeat(40)}` as Address;

/** Blocks per `eth_getLogs`: what public endpoints take; less when one refuses, down to the smallest. */
const RANGE = 5000;
const SMALLEST_RANGE = 50;

/** Whether the contract at `account` answers the magic value, and exactly that, under a gas limit and with the base
 *  fee set: a wallet may say yes only where nobody pays. Source: ERC-1271. */
export async function isValidSignature(
  room: Room,
  { account, digest, signature }: { account: Address; digest: Hash; signature: Hex },
): Promise<boolean> {
  const digits = signature.slice(2);
  const padding = "0".repeat((64 - (digits.length % 64)) % 64);
  const data: Hex = `${IS_VALID_SIGNATURE}${digest.slice(2)}${word(64)}${word(digits.length / 2)}${digits}${padding}`;
  const execution = await execute(room, { from: NOBODY, to: account, data, gas: WALLET_GAS });
  return execution.ok && execution.data === MAGIC;
}

/** The block in which an authorization was used or cancelled, found by its indexed event. Null when it was not, from
 *  `fromBlock` up to the head. The newest blocks are asked first: who looks has mostly just missed it, and the whole of a chain
 *  takes minutes. */
export async function findAuthorizationUse(
  room: Room,
  { token, payer, nonce, fromBlock }: { token: Address; payer: Address; nonce: Hash; fromBlock: number },
): Promise<BlockRef | null> {
  const head = await newestBlock(room);
  const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${addressWord(payer)}`, nonce];
  let range = RANGE;
  for (let to = head.number; to >= fromBlock; ) {
    const from = Math.max(to - range + 1, fromBlock);
    const filter = { address: token, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const reply = await room.rpc.ask({ method: "eth_getLogs", params: [filter], parse: firstBlockHash });
    if (reply.ok && reply.value) return blockOfHash(room, reply.value);
    if (reply.ok) to = from - 1;
    else if (range > SMALLEST_RANGE) range = Math.max(SMALLEST_RANGE, Math.floor(range / 4));
    else throw room.rpc.unavailable(new Error(`eth_getLogs: ${reply.error.code} ${reply.error.message}`));
  }
  return null;
}

function firstBlockHash(result: unknown): Hash | null {
  const [log] = list(result).map(fields);
  return log && log.removed !== true ? hash32(log.blockHash) : null;
}

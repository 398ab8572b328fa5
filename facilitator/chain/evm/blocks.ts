import type { Address, Hash } from "#kernel/bytes";
import type { BlockRef, Receipt } from "../port.ts";
import { count, fields, hash32, orNull, quantity, toQuantity } from "./answer.ts";
import type { Room } from "./room.ts";

type BlockTag = "latest" | "finalized";

/** The block at a tag. Rejects when the endpoint has none: every chain has a head. */
export async function taggedBlock(room: Room, tag: BlockTag): Promise<BlockRef> {
  const params = [tag, false];
  const block = await room.rpc.request({ method: "eth_getBlockByNumber", params, parse: blockOf });
  if (tag === "latest") room.seen = block;
  return block;
}

export function blockAt(room: Room, number: number): Promise<BlockRef | null> {
  const params = [toQuantity(number), false];
  return room.rpc.request({ method: "eth_getBlockByNumber", params, parse: orNull(blockOf) });
}

export function blockOfHash(room: Room, hash: Hash): Promise<BlockRef | null> {
  return room.rpc.request({ method: "eth_getBlockByHash", params: [hash, false], parse: orNull(blockOf) });
}

/** Base fee and time of the newest block that was seen; asks for the head only when none was. */
export async function newestSeen(room: Room): Promise<BlockRef> {
  return room.seen ?? (await taggedBlock(room, "latest"));
}

export async function nonceOf(room: Room, account: Address, block: number | "latest"): Promise<number> {
  const params = [account, atBlock(block)];
  return room.rpc.request({ method: "eth_getTransactionCount", params, parse: count });
}

export function nativeBalance(room: Room, account: Address, block: number | "latest"): Promise<bigint> {
  return room.rpc.request({ method: "eth_getBalance", params: [account, atBlock(block)], parse: quantity });
}

export function receiptOf(room: Room, txHash: Hash): Promise<Receipt | null> {
  return room.rpc.request({
    method: "eth_getTransactionReceipt",
    params: [txHash],
    parse: orNull((value) => {
      const receipt = fields(value);
      return {
        txHash: hash32(receipt.transactionHash),
        blockNumber: count(receipt.blockNumber),
        blockHash: hash32(receipt.blockHash),
        succeeded: quantity(receipt.status) === 1n,
        gasUsed: quantity(receipt.gasUsed),
        effectiveGasPrice: quantity(receipt.effectiveGasPrice),
      };
    }),
  });
}

export function atBlock(block: number | "latest"): string {
  return block === "latest" ? block : toQuantity(block);
}

function blockOf(value: unknown): BlockRef {
  const block = fields(value);
  return {
    number: count(block.number),
    hash: hash32(block.hash),
    parentHash: hash32(block.parentHash),
    timestamp: count(block.timestamp),
    baseFeePerGas: quantity(block.baseFeePerGas ?? "0x0"),
  };
}

import type { Address, Hash } from "#kernel/bytes";
import { canonicalJson } from "#kernel/codec";
import type { BlockRef, Receipt } from "../port.ts";
import { count, fields, hash32, orNull, quantity, toQuantity } from "./answer.ts";
import type { Question, Reply } from "./client.ts";
import type { Room } from "./room.ts";
import { agreed, type Testimony, WITNESSES } from "./witnesses.ts";

type BlockTag = "latest" | "finalized";

/** The newest block as any one endpoint sees it: to price a simulation and to end a search, not to follow. */
export async function newestBlock(room: Room): Promise<BlockRef> {
  const params = ["latest", false];
  const block = await room.rpc.request({ method: "eth_getBlockByNumber", params, parse: blockOf });
  room.seen = block;
  return block;
}

/** The highest block that two endpoints have reached by this tag, as they tell it alike: one that lags, runs ahead or
 *  follows another branch leads nobody. Rejects when an endpoint has none: every chain has a head. */
export async function taggedBlock(room: Room, tag: BlockTag): Promise<BlockRef> {
  const question = { method: "eth_getBlockByNumber", params: [tag, false], parse: blockOf };
  const heads = await askAll(room, `the ${tag} block`, question);
  const block = await highestOfTwo(room, heads);
  if (tag === "latest") room.seen = block;
  return block;
}

async function highestOfTwo(room: Room, heads: readonly BlockRef[]): Promise<BlockRef> {
  const [highest, reached = highest] = [...heads].sort((a, b) => b.number - a.number);
  if (!reached) throw room.rpc.unavailable(new Error("no endpoint is configured"));
  const alike = heads.filter((head) => canonicalJson(head) === canonicalJson(reached));
  if (alike.length >= Math.min(WITNESSES, heads.length)) return reached;
  const block = await blockAt(room, reached.number);
  if (!block) throw room.rpc.unavailable(new Error(`block ${reached.number} is told of, and not there`));
  return block;
}

export function blockAt(room: Room, number: number): Promise<BlockRef | null> {
  const question = {
    method: "eth_getBlockByNumber",
    params: [toQuantity(number), false],
    parse: orNull(blockOf),
  };
  return agreed(room, `block ${number}`, async (source) => saidBy(await source(question)));
}

function saidBy<T>(reply: Reply<T | null> | null): Testimony<T> {
  return reply?.ok ? { said: reply.value } : "silent";
}

export function blockOfHash(room: Room, hash: Hash): Promise<BlockRef | null> {
  return room.rpc.request({ method: "eth_getBlockByHash", params: [hash, false], parse: orNull(blockOf) });
}

/** Base fee and time of the newest block that was seen; asks for the head only when none was. */
export async function newestSeen(room: Room): Promise<BlockRef> {
  return room.seen ?? (await newestBlock(room));
}

/** The highest count that two endpoints have reached: a lagging one holds no lane up, and one alone cannot make it seem
 *  that somebody else uses the key. */
export async function nonceOf(room: Room, account: Address, block: number | "latest"): Promise<number> {
  const counts = await askAll(room, `the nonce of ${account}`, {
    method: "eth_getTransactionCount",
    params: [account, atBlock(block)],
    parse: count,
  });
  const [highest = 0, reached = highest] = [...counts].sort((a, b) => b - a);
  return reached;
}

/** What each endpoint answers, of as many as may count together. Rejects when too few do. */
async function askAll<T>(room: Room, what: string, question: Question<T>): Promise<readonly T[]> {
  const replies = await Promise.all(room.rpc.sources(WITNESSES).map((source) => source(question)));
  const answers = replies.flatMap((reply) => (reply?.ok ? [reply.value] : []));
  if (answers.length >= Math.min(WITNESSES, replies.length)) return answers;
  throw room.rpc.unavailable(new Error(`no useful answer about ${what}`));
}

export function nativeBalance(room: Room, account: Address, block: number | "latest"): Promise<bigint> {
  return room.rpc.request({ method: "eth_getBalance", params: [account, atBlock(block)], parse: quantity });
}

/** As two endpoints tell it alike: a slot is closed by it, and its payments are sent anew if they moved nothing. */
export function receiptOf(room: Room, txHash: Hash): Promise<Receipt | null> {
  const question = { method: "eth_getTransactionReceipt", params: [txHash], parse: orNull(readReceipt) };
  return agreed(room, `the receipt of ${txHash}`, async (source) => saidBy(await source(question)));
}

function readReceipt(value: unknown): Receipt {
  const receipt = fields(value);
  return {
    txHash: hash32(receipt.transactionHash),
    blockNumber: count(receipt.blockNumber),
    blockHash: hash32(receipt.blockHash),
    succeeded: quantity(receipt.status) === 1n,
    gasUsed: quantity(receipt.gasUsed),
    effectiveGasPrice: quantity(receipt.effectiveGasPrice),
  };
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

/** Blocks of the test chain, made and found. */
import { type Hex, hash } from "#kernel/bytes";
import type { BlockRef } from "../../facilitator/chain/port.ts";
import type { DevChain } from "./dev-chain.ts";

/** The block that a transaction was mined in. */
export async function blockOf({ chain }: DevChain, txHash: Hex): Promise<BlockRef> {
  const receipt = await chain.receipt(hash(txHash));
  const block = receipt && (await chain.blockAt(receipt.blockNumber));
  if (!block) throw new Error("the transaction was not mined");
  return block;
}

/** Puts what is sent during `work` into one block, in the order of sending. */
export async function inOneBlock(
  { anvil, chain }: DevChain,
  work: () => Promise<unknown>,
): Promise<BlockRef> {
  await anvil.rpc("evm_setAutomine", [false]);
  await work();
  await anvil.mine();
  await anvil.rpc("evm_setAutomine", [true]);
  return chain.head();
}

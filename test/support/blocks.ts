/** Blocks of the test chain, made and found. */
import { type Hex, hash } from "#kernel/bytes";
import type { BlockRef } from "../../facilitator/chain/port.ts";
import type { DevChain } from "./dev-chain.ts";
import { type Payer, until } from "./house.ts";

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

type Waiting = Readonly<Record<string, { readonly from: string; readonly input: string }>>;

/** Resolves when a transaction waits to be mined that this payer sent, or that takes the payer's money by a signature. */
export async function inTheMempool({ anvil }: DevChain, payer: Payer): Promise<void> {
  const named = payer.address.slice(2);
  const isThere = async () => {
    const { pending } = await anvil.rpc<{ pending: Readonly<Record<string, Waiting>> }>("txpool_content");
    const all = Object.values(pending).flatMap((each) => Object.values(each));
    return all.some(({ from, input }) => from.toLowerCase() === payer.address || input.includes(named));
  };
  await until(isThere, "the payment waits to be mined");
}

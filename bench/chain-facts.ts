/** What the chain itself says about a run: nobody's answer is taken for it. */
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { address } from "#kernel/bytes";
import { blockAt, rpc } from "../src/dev/rpc.ts";

const patientMs = 30_000;

export async function headNumber(rpcUrl: string): Promise<number> {
  const block = await blockAt(rpcUrl, "latest");
  if (!block) throw new Error("the chain has no block");
  return block.number;
}

export interface Spent {
  readonly gas: bigint;
  readonly transactions: number;
  readonly reverted: number;
}

/** Gas of all transactions that `signers` sent in the blocks after `after`, up to `last`; failed ones count, too. */
export async function gasSpent(
  rpcUrl: string,
  {
    signers,
    after,
    last,
  }: { readonly signers: readonly string[]; readonly after: number; readonly last: number },
): Promise<Spent> {
  const ours = new Set(signers.map((each) => each.toLowerCase()));
  let spent: Spent = { gas: 0n, transactions: 0, reverted: 0 };
  for (let number = after + 1; number <= last; number += 1) {
    const receipts = await rpc<readonly { from: string; gasUsed: Hex; status: Hex }[]>(
      rpcUrl,
      "eth_getBlockReceipts",
      [`0x${number.toString(16)}`],
      patientMs,
    );
    for (const { from, gasUsed, status } of receipts) {
      if (!ours.has(from.toLowerCase())) continue;
      spent = {
        gas: spent.gas + BigInt(gasUsed),
        transactions: spent.transactions + 1,
        reverted: spent.reverted + (status === "0x1" ? 0 : 1),
      };
    }
  }
  return spent;
}

const abi = parseAbi(["function balanceOf(address account) view returns (uint256)"]);

export async function balanceOf(rpcUrl: string, token: string, owner: string): Promise<bigint> {
  const data = encodeFunctionData({ abi, functionName: "balanceOf", args: [address(owner)] });
  return BigInt(await rpc<Hex>(rpcUrl, "eth_call", [{ to: token, data }, "latest"], patientMs));
}

/** The chain that both sides stand on, as whoever runs it may use it: a node with anvil's methods. */
import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { type Address, address } from "#kernel/bytes";
import { rpc } from "../../../src/dev/rpc.ts";

export interface Receipt {
  readonly from: string;
  readonly to: string | null;
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly transactionHash: Hex;
  readonly logs: readonly { readonly address: string; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

const token = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function owner() view returns (address)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value)",
]);
const patientMs = 20_000;

export type ControlledChain = ReturnType<typeof controlledChain>;

export function controlledChain(rpcUrl: string) {
  const ask = <T>(method: string, params: readonly unknown[] = []) =>
    rpc<T>(rpcUrl, method, params, patientMs);
  const isAutomatic = () => ask<boolean>("anvil_getAutomine");

  async function transact(
    from: string,
    call: { readonly to?: string; readonly data: Hex },
  ): Promise<Receipt> {
    await ask("anvil_impersonateAccount", [from]);
    await ask("anvil_setBalance", [from, "0x8ac7230489e80000"]);
    const hash = await ask<Hex>("eth_sendTransaction", [{ from, gas: "0x4c4b40", ...call }]);
    const deadline = performance.now() + patientMs;
    for (;;) {
      const receipt = await ask<Receipt | null>("eth_getTransactionReceipt", [hash]);
      if (receipt?.status === "0x1") return receipt;
      if (receipt) throw new Error(`a transaction of the runner failed: ${hash}`);
      if (performance.now() > deadline) throw new Error(`a transaction of the runner is not mined: ${hash}`);
      await sleep(20);
    }
  }

  const call = (to: string, data: Hex) => ask<Hex>("eth_call", [{ to, data }, "latest"]);

  return {
    rpcUrl,
    ask,
    transact,
    mine: (blocks = 1) => ask("anvil_mine", [`0x${blocks.toString(16)}`]),
    /** Of the latest block, seconds. */
    async time(): Promise<bigint> {
      const block = await ask<{ timestamp: string }>("eth_getBlockByNumber", ["latest", false]);
      return BigInt(block.timestamp);
    },
    head: async () => Number(await ask<Hex>("eth_blockNumber")),
    receipt: (hash: string) => ask<Receipt | null>("eth_getTransactionReceipt", [hash]),
    /** What anvil's clock is set forward by stays so. */
    async ahead(seconds: number) {
      await ask("evm_increaseTime", [seconds]);
      await ask("anvil_mine", ["0x1"]);
    },
    async balance(of: string, contract: string): Promise<bigint> {
      const data = encodeFunctionData({ abi: token, functionName: "balanceOf", args: [address(of)] });
      return BigInt(await call(contract, data));
    },
    async ownerOf(contract: string): Promise<Address | null> {
      const data = encodeFunctionData({ abi: token, functionName: "owner" });
      const word = await call(contract, data).catch(() => "0x");
      return word.length === 66 ? address(`0x${word.slice(26)}`) : null;
    },
    mint: (owner: string, contract: string, to: Address, value: bigint) =>
      transact(owner, {
        to: contract,
        data: encodeFunctionData({ abi: token, functionName: "mint", args: [to, value] }),
      }),
    transfer: (from: string, contract: string, to: Address, value: bigint) =>
      transact(from, {
        to: contract,
        data: encodeFunctionData({ abi: token, functionName: "transfer", args: [to, value] }),
      }),
    /** Transactions that these accounts have sent, those that wait for a block included. */
    async sentBy(accounts: readonly string[]): Promise<number> {
      const counts = accounts.map((each) => ask<Hex>("eth_getTransactionCount", [each, "pending"]));
      return (await Promise.all(counts)).reduce((sum, count) => sum + Number(count), 0);
    },
    /** What of theirs was mined after block `after`. */
    async minedOf(accounts: readonly string[], after: number): Promise<readonly Receipt[]> {
      const theirs = new Set(accounts.map((each) => each.toLowerCase()));
      const last = Number(await ask<Hex>("eth_blockNumber"));
      const found: Receipt[] = [];
      for (let number = after + 1; number <= last; number += 1) {
        const all = await ask<readonly Receipt[]>("eth_getBlockReceipts", [`0x${number.toString(16)}`]);
        found.push(...all.filter(({ from }) => theirs.has(from.toLowerCase())));
      }
      return found;
    },
    /** Runs `during` while transactions wait and no block comes; blocks come as before afterwards. */
    async held<T>(during: (release: () => Promise<void>) => Promise<T>): Promise<T> {
      const automine = await isAutomatic();
      const interval = automine ? null : await ask<number | null>("anvil_getIntervalMining");
      await ask("evm_setAutomine", [false]);
      if (interval) await ask("evm_setIntervalMining", [0]);
      const release = async () => {
        if (automine) await ask("evm_setAutomine", [true]);
        if (interval) await ask("evm_setIntervalMining", [interval]);
        await ask("anvil_mine", ["0x1"]);
      };
      try {
        return await during(release);
      } finally {
        await release();
      }
    },
  };
}

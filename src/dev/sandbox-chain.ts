/** The payer and the miner of the local chain, for the sandbox's test routes. The node signs for the dev payer itself
 *  (`anvil_impersonateAccount`), so that no key of his is needed, and nonces of several processes do not collide. */
import { encodeFunctionData, parseAbi, parseEther } from "viem";
import type { SandboxChain } from "#api";
import { addressOf } from "#facilitator";
import { type Address, type Hash, type Hex, hash } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { deriveKey } from "../keys.ts";
import { nodeClock } from "./node-clock.ts";
import { RpcRefusal, rpc } from "./rpc.ts";

const tokenAbi = parseAbi([
  "function balanceOf(address owner) view returns (uint256)",
  "function owner() view returns (address)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
]);
const routerAbi = parseAbi([
  "function pay((bytes32 paymentRef, address token, address payTo, uint256 amount, uint256 deadline) order, bytes operatorSignature)",
]);
const GAS = "0x7a120"; // 500,000: not estimated, since what fails must be mined as well
const GAS_MONEY = `0x${parseEther("1").toString(16)}`;

/** Fault of its calls: `chain_unavailable`, where the node does not answer, or does not mine what it was given. */
export function sandboxChain({
  slug,
  rpcUrl,
  masterSecret,
}: {
  readonly slug: string;
  readonly rpcUrl: string;
  readonly masterSecret: string;
}): SandboxChain {
  const payer = addressOf(deriveKey(masterSecret, "payer"));
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: the node would give two that come at once the same nonce. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }
  const unavailable = (cause?: unknown) => fault("chain_unavailable", { chain: slug }, cause);
  const ask = <T>(method: string, params: readonly unknown[]) =>
    rpc<T>(rpcUrl, method, params).catch((error: unknown) => {
      throw error instanceof RpcRefusal ? error : unavailable(error);
    });
  const clock = nodeClock(ask);
  async function send(from: Address, to: Address, data: Hex): Promise<Hash> {
    await ask("anvil_impersonateAccount", [from]);
    const gasMoney = BigInt(await ask<Hex>("eth_getBalance", [from, "latest"]));
    if (gasMoney < parseEther("0.1")) await ask("anvil_setBalance", [from, GAS_MONEY]);
    return hash(await ask<Hex>("eth_sendTransaction", [{ from, to, data, gas: GAS }]));
  }
  /** With what waits to be mined: it takes from the payer, too. */
  const view = async (token: Address, data: Hex) => ask<Hex>("eth_call", [{ to: token, data }, "pending"]);

  async function provide(token: Address, amount: bigint): Promise<void> {
    const args = [payer] as const;
    const held = BigInt(
      await view(token, encodeFunctionData({ abi: tokenAbi, functionName: "balanceOf", args })),
    );
    if (held >= amount) return;
    const owner = await view(token, encodeFunctionData({ abi: tokenAbi, functionName: "owner" }));
    const missing = [payer, amount - held] as const;
    const data = encodeFunctionData({ abi: tokenAbi, functionName: "mint", args: missing });
    await mined(await send(`0x${owner.slice(-40)}` as Address, token, data));
  }

  async function mined(transaction: Hash): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const receipt = await ask<{ status: Hex } | null>("eth_getTransactionReceipt", [transaction]);
      if (receipt?.status === "0x1") return;
      if (receipt) throw new Error(`a simulated transaction failed: ${transaction}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Its block may have been taken away meanwhile, as `reorg` does.
    throw unavailable(new Error(`a simulated transaction is not mined: ${transaction}`));
  }

  return {
    transfer: ({ token, to, amount }) =>
      inTurn(async () => {
        await provide(token, amount);
        const args = [to, amount] as const;
        return send(payer, token, encodeFunctionData({ abi: tokenAbi, functionName: "transfer", args }));
      }),
    payOrder: ({ router, signature, ...order }) =>
      inTurn(async () => {
        await provide(order.token, order.amount);
        const allowance = [router, order.amount] as const;
        const approve = encodeFunctionData({ abi: tokenAbi, functionName: "approve", args: allowance });
        await mined(await send(payer, order.token, approve));
        const data = encodeFunctionData({ abi: routerAbi, functionName: "pay", args: [order, signature] });
        return send(payer, router, data);
      }),
    reorg: (depth) =>
      inTurn(() =>
        clock.still(async () => {
          const height = async (tag: string) =>
            Number((await ask<{ number: Hex }>("eth_getBlockByNumber", [tag, false])).number);
          const [head, final] = [await height("latest"), await height("finalized")];
          if (head - final < depth) return false;
          await ask("anvil_reorg", [depth, []]);
          return true;
        }),
      ),
  };
}

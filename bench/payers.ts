/** Payers with dev money: keys derived from a number, funded many at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import secp256k1 from "secp256k1";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Address, address, fromBytes } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import { rpc } from "../src/dev/rpc.ts";

export interface Payer {
  readonly address: Address;
  readonly privateKey: Uint8Array;
}

export interface Funding {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly token: string;
  readonly aggregate3: string;
  /** Owner of the token. */
  readonly deployerKey: Hex;
  /** Atomic units for each payer. */
  readonly each: bigint;
}

const abi = parseAbi([
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "function aggregate3(Call3[] calls) payable",
]);
const transfersPerTransaction = 400;
/** The same for every batch: from a block that is nearly full, anvil drops a later transaction of the same sender that
 *  would still fit, because its nonce is not due yet. */
const gasPerBatch = 24_000_000n;

/** Those from one index up to another; the same index always gives the same payer. */
export function makePayers(end: number, begin = 0): readonly Payer[] {
  return Array.from({ length: end - begin }, (_, at) => {
    const privateKey = keccak256(Buffer.from(`farebox bench payer ${begin + at}`, "utf8"));
    const publicKey = secp256k1.publicKeyCreate(privateKey, false);
    return { address: address(fromBytes(keccak256(publicKey.subarray(1)).subarray(12))), privateKey };
  });
}

/** Mints to the batching contract and lets it pay everybody: minting is the owner's alone, one call at a time. */
export async function fundPayers(payers: readonly Payer[], funding: Funding): Promise<void> {
  const { rpcUrl, chainId, token, aggregate3, each } = funding;
  const owner = privateKeyToAccount(funding.deployerKey);
  const total = each * BigInt(payers.length);
  const mint = encodeFunctionData({ abi, functionName: "mint", args: [address(aggregate3), total] });
  const calls: { to: string; data: Hex; gas: bigint }[] = [{ to: token, data: mint, gas: 200_000n }];
  for (let from = 0; from < payers.length; from += transfersPerTransaction) {
    const batch = payers.slice(from, from + transfersPerTransaction);
    calls.push({ to: aggregate3, data: payAll(batch, token, each), gas: gasPerBatch });
  }
  const first = Number(await rpc<Hex>(rpcUrl, "eth_getTransactionCount", [owner.address, "pending"]));
  let last: Hex | undefined;
  for (const [index, call] of calls.entries()) {
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
    const transaction = { type: "eip1559", chainId, nonce: first + index, ...fees } as const;
    const raw = await owner.signTransaction({ ...transaction, ...call, to: address(call.to) });
    last = await rpc<Hex>(rpcUrl, "eth_sendRawTransaction", [raw], 20_000);
  }
  if (last) await mined(rpcUrl, last);
  await demandFunds(payers.at(-1), funding);
}

function payAll(batch: readonly Payer[], token: string, each: bigint): Hex {
  const calls = batch.map((payer) => ({
    target: address(token),
    allowFailure: false,
    callData: encodeFunctionData({ abi, functionName: "transfer", args: [payer.address, each] }),
  }));
  return encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] });
}

async function mined(rpcUrl: string, hash: Hex): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const receipt = await rpc<{ status: Hex } | null>(rpcUrl, "eth_getTransactionReceipt", [hash], 20_000);
    if (receipt?.status === "0x1") return;
    if (receipt) throw new Error(`funding the payers failed: ${hash}`);
    if (performance.now() > deadline) throw new Error(`funding the payers is not mined: ${hash}`);
    await sleep(200);
  }
}

async function demandFunds(
  payer: Payer | undefined,
  { rpcUrl, token, each }: { readonly rpcUrl: string; readonly token: string; readonly each: bigint },
): Promise<void> {
  if (!payer) return;
  const data = encodeFunctionData({ abi, functionName: "balanceOf", args: [payer.address] });
  const balance = BigInt(await rpc<Hex>(rpcUrl, "eth_call", [{ to: token, data }, "latest"]));
  if (balance < each) throw new Error(`payer ${payer.address} holds ${balance}, not ${each}`);
}

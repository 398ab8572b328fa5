/** anvil with the dev tokens and the batching contract, opened through our own adapter. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress } from "viem";
import { type Address, address, type Hex } from "#kernel/bytes";
import type { Log } from "#kernel/log";
import { loadArtifacts } from "../../contracts/index.ts";
import { openEvmChain } from "../../facilitator/chain/evm/index.ts";
import type { Chain } from "../../facilitator/chain/port.ts";
import { type ChainConfig, chainRow } from "../../facilitator/chain/registry.ts";
import { type DevContracts, deployDevContracts } from "../../src/dev/deploy.ts";
import { devTokens } from "../../src/dev/dev-tokens.ts";
import { type Anvil, type AnvilOptions, startAnvil } from "./anvil.ts";

export interface DevChain {
  readonly anvil: Anvil;
  readonly contracts: DevContracts;
  readonly usdc: Address;
  /** Gas keys' first address. */
  readonly lane: Address;
  readonly config: ChainConfig;
  readonly chain: Chain;
  /** Any account's transaction, mined; no key needed. */
  transact(from: string, call: { readonly to?: string; readonly data: Hex }): Promise<Hex>;
  /** An owner's call to a dev token: mint, pause, unpause, block, unblock. */
  administer(functionName: string, args?: readonly unknown[], token?: Address): Promise<void>;
  deploy(
    artifact: { readonly abi: Abi; readonly bytecode: Hex },
    args?: readonly unknown[],
  ): Promise<Address>;
  stop(): Promise<void>;
}

/** Of the chain's contracts and of every house on it: their operator is one. */
export const masterSecret = "a master secret of tests, long enough";

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function startDevChain(options: AnvilOptions = {}): Promise<DevChain> {
  const anvil = await startAnvil({ ...options, args: ["--auto-impersonate", ...(options.args ?? [])] });
  const contracts = await deployDevContracts({ rpcUrl: anvil.rpcUrl, masterSecret });
  const config = configOf(anvil, contracts);
  const { devToken } = await loadArtifacts();
  const usdc = address(contracts.assets.USDC);

  // One after the other: the node would give two that come at the same time one nonce.
  let lastSent: Promise<unknown> = Promise.resolve();

  async function transact(from: string, call: { readonly to?: string; readonly data: Hex }): Promise<Hex> {
    const sent = lastSent.then(() =>
      anvil.rpc<Hex>("eth_sendTransaction", [{ from, gas: "0x4c4b40", ...call }]),
    );
    lastSent = sent.catch(() => undefined);
    const hash = await sent;
    for (;;) {
      const receipt = await anvil.rpc<{ status: Hex } | null>("eth_getTransactionReceipt", [hash]);
      if (receipt && receipt.status !== "0x1") throw new Error(`a transaction of the test failed: ${hash}`);
      if (receipt) return hash;
      await sleep(20);
    }
  }

  return {
    anvil,
    contracts,
    usdc,
    lane: address(contracts.signers[0]?.address ?? ""),
    config,
    chain: await openEvmChain({ row: chainRow(config), log: silentLog }),
    transact,
    administer: async (functionName, args = [], token = usdc) => {
      const data = encodeFunctionData({ abi: devToken.abi, functionName, args });
      await transact(contracts.deployer.address, { to: token, data });
    },
    deploy: async ({ abi, bytecode }, args = []) => {
      const from = contracts.deployer.address;
      const nonce = BigInt(await anvil.rpc<Hex>("eth_getTransactionCount", [from, "latest"]));
      await transact(from, { data: encodeDeployData({ abi, bytecode, args }) });
      return address(getContractAddress({ from, nonce }));
    },
    stop: () => anvil.stop(),
  };
}

function configOf({ rpcUrl, chainId }: Anvil, { assets, treasury, router }: DevContracts): ChainConfig {
  return {
    slug: chainId === 31337 ? "local" : `local-${chainId}`,
    chainId,
    rpcUrls: [rpcUrl],
    blockTimeSeconds: 1,
    treasury: treasury.address,
    router,
    assets: devTokens.map(({ symbol }) => ({ symbol, contract: assets[symbol] })),
  };
}

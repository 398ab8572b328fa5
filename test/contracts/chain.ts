/** A local chain with the dev tokens on it, for one test file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Artifact, type Artifacts, loadArtifacts } from "../../contracts/index.ts";
import { startChain } from "../../src/dev/chain.ts";
import { type DevContracts, deployDevContracts, type KeyPair } from "../../src/dev/deploy.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import { rpc } from "../../src/dev/rpc.ts";

export interface TestChain {
  readonly url: string;
  readonly client: PublicClient;
  readonly contracts: DevContracts;
  /** Sends a transaction and waits for it; its receipt, also when it reverted. */
  send(from: KeyPair, to: Address | null, data: Hex): ReturnType<PublicClient["waitForTransactionReceipt"]>;
  close(): Promise<void>;
}

const say = (_line: string): void => undefined;

export async function openChain(): Promise<TestChain> {
  const dataDir = join(await mkdtemp(join(tmpdir(), "farebox-test-")), "data");
  const chain = await startChain({ dataDir, say });
  const contracts = await deployDevContracts({ rpcUrl: chain.rpcUrl, masterSecret: "22".repeat(32) });
  const transport = http(chain.rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 50 });
  return {
    url: chain.rpcUrl,
    client,
    contracts,
    async send(from, to, data) {
      const wallet = createWalletClient({ account: privateKeyToAccount(from.privateKey), transport });
      // gas is named, so that a transaction that reverts is mined instead of refused
      const hash = await wallet.sendTransaction({ to, data, gas: 3_000_000n, chain: null });
      await rpc(chain.rpcUrl, "evm_mine"); // rather than wait for the next second
      return client.waitForTransactionReceipt({ hash });
    },
    async close() {
      await resetDataFolder({ dataDir, say });
      await rm(join(dataDir, ".."), { recursive: true, force: true });
    },
  };
}

export async function artifact(name: keyof Artifacts): Promise<Artifact> {
  return (await loadArtifacts())[name];
}

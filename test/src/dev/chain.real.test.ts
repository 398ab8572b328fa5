import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  parseAbi,
  parseEther,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ChainOptions, type LocalChain, startChain } from "../../../src/dev/chain.ts";
import { type DevContracts, deployDevContracts } from "../../../src/dev/deploy.ts";
import { isRoot } from "../../../src/dev/identity.ts";
import { isAlive } from "../../../src/dev/processes.ts";
import { blockAt, rpc } from "../../../src/dev/rpc.ts";
import { startAnvil } from "../../support/anvil.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { dataFolder, say } from "./support.ts";

const masterSecret = "11".repeat(32);
const token = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
  "function operator() view returns (address)",
]);

async function open(
  options: Omit<ChainOptions, "say">,
): Promise<{ chain: LocalChain; contracts: DevContracts }> {
  const chain = await startChain({ ...options, say });
  return { chain, contracts: await deployDevContracts({ rpcUrl: chain.rpcUrl, masterSecret }) };
}

/** The payer sends one million atomic USDC to the treasury; the block's number and hash. */
async function spend({ rpcUrl }: LocalChain, { payer, treasury, assets }: DevContracts) {
  const account = privateKeyToAccount(payer.privateKey);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) });
  const args = [treasury.address, 1_000_000n] as const;
  const hash = await wallet.writeContract({
    address: assets.USDC,
    abi: token,
    functionName: "transfer",
    args,
    chain: null,
  });
  const client = createPublicClient({ transport: http(rpcUrl) });
  const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  return { number: Number(receipt.blockNumber), hash: receipt.blockHash };
}

async function standing({ rpcUrl }: LocalChain, { payer, treasury, assets, signers, router }: DevContracts) {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const balanceOf = (address: `0x${string}`, of: `0x${string}`) =>
    client.readContract({ address, abi: token, functionName: "balanceOf", args: [of] });
  return {
    payer: await balanceOf(assets.USDC, payer.address),
    treasury: await balanceOf(assets.USDC, treasury.address),
    euros: await balanceOf(assets.EURC, payer.address),
    operator: await client.readContract({ address: router, abi: token, functionName: "operator" }),
    payerGas: await client.getBalance({ address: payer.address }),
    signerGas: await Promise.all(signers.map(({ address }) => client.getBalance({ address }))),
  };
}

interface HeaderAnswer {
  readonly number: string;
  readonly timestamp: string;
  readonly gasLimit: string;
}

async function recorded(dataDir: string): Promise<{ block: { number: number } }> {
  return JSON.parse(await readFile(join(dataDir, "chain.json"), "utf8"));
}

describe("deployDevContracts", () => {
  it("asks for a block where a node leaves its transactions lying", async () => {
    const node = await startAnvil({ args: ["--no-mining"] });
    onTestFinished(() => node.stop());
    const { deployer, router } = await deployDevContracts({
      rpcUrl: node.rpcUrl,
      masterSecret,
      blockTimeSeconds: 0,
    });
    expect(await node.rpc("eth_getTransactionCount", [deployer.address, "pending"])).not.toBe("0x0");
    expect(await node.rpc("eth_getCode", [router, "latest"])).not.toBe("0x");
  });

  it("sends a transaction again that a node took and lost", async () => {
    const node = await startAnvil();
    const proxy = await startRpcProxy(node.rpcUrl);
    onTestFinished(async () => void (await Promise.all([proxy.stop(), node.stop()])));
    let sent = 0;
    proxy.set(async ({ method, params }, real) => {
      if (method !== "eth_sendRawTransaction") return real();
      sent += 1;
      return sent === 2 ? { result: keccak256(params[0] as Hex) } : real();
    });
    const { router } = await deployDevContracts({ rpcUrl: proxy.url, masterSecret, blockTimeSeconds: 0 });
    expect(await node.rpc("eth_getCode", [router, "latest"])).not.toBe("0x");
  });
});

describe("startChain and deployDevContracts", () => {
  it("go on with the same chain after a stop: balances, block hashes, nothing paid out twice", async () => {
    // given a chain on which the payer spent something
    const dataDir = await dataFolder();
    const first = await open({ dataDir });
    const fresh = await standing(first.chain, first.contracts);
    const block = await spend(first.chain, first.contracts);
    const before = await standing(first.chain, first.contracts);
    // when it is stopped and started again
    await first.chain.stop();
    expect(await isAlive(first.chain.pid)).toBe(false);
    const second = await open({ dataDir });
    // then the same balances and blocks are there
    const full = 1_000_000_000_000n;
    expect({ ...fresh, payerGas: 0n }).toEqual({
      payer: full,
      treasury: 0n,
      euros: full,
      operator: first.contracts.operator.address,
      payerGas: 0n,
      signerGas: Array(4).fill(parseEther("100")),
    });
    expect(await standing(second.chain, second.contracts)).toEqual(before);
    expect(before.treasury).toBe(1_000_000n);
    expect(await blockAt(second.chain.rpcUrl, block.number)).toEqual(block);
    expect(second.contracts).toEqual(first.contracts);
  });

  it("what was deployed is final at once: a reorganisation right afterwards leaves it in place", async () => {
    const { chain, contracts } = await open({ dataDir: await dataFolder() });
    const before = await standing(chain, contracts);
    for (const depth of [1, 2]) {
      await rpc(chain.rpcUrl, "anvil_reorg", [depth, []]);
      expect(await standing(chain, contracts)).toEqual(before);
    }
  });

  it("finality is two blocks behind, blocks keep coming at the wall clock's time, also after a restart", async () => {
    const dataDir = await dataFolder();
    await (await startChain({ dataDir, say })).stop();
    const { rpcUrl } = await startChain({ dataDir, say });
    const read = (tag: string) => rpc<HeaderAnswer>(rpcUrl, "eth_getBlockByNumber", [tag, false]);
    await expect
      .poll(async () => Number((await read("latest")).number), { timeout: 8000 })
      .toBeGreaterThan(4);
    // both at once, again when a block came in between
    const distance = async () => {
      const [latest, finalized] = await Promise.all([read("latest"), read("finalized")]);
      return Number(latest.number) - Number(finalized.number);
    };
    await expect.poll(distance, { timeout: 3000 }).toBe(2);
    const latest = await read("latest");
    expect(Math.abs(Number(latest.timestamp) - Date.now() / 1000)).toBeLessThan(2.5);
    expect(Number(latest.gasLimit)).toBe(200_000_000);
  });

  it("saves a block with transactions soon: a kill -9 of the node loses nothing that was saved", async () => {
    // given a spent token, and a moment for the saver
    const dataDir = await dataFolder();
    const first = await open({ dataDir });
    const block = await spend(first.chain, first.contracts);
    await expect
      .poll(async () => (await recorded(dataDir)).block.number, { timeout: 5000 })
      .toBeGreaterThanOrEqual(block.number);
    // when the node is killed
    process.kill(first.chain.pid, "SIGKILL");
    const second = await open({ dataDir });
    // then the block is there
    expect(second.chain.adopted).toBe(false);
    expect(await blockAt(second.chain.rpcUrl, block.number)).toEqual(block);
    expect((await standing(second.chain, second.contracts)).treasury).toBe(1_000_000n);
  });

  it("two data folders, one of them with another chain id, do not collide", async () => {
    const one = await startChain({ dataDir: await dataFolder(), say });
    const two = await startChain({ dataDir: await dataFolder(), say, chainId: 84532 });
    expect(one.rpcUrl).not.toBe(two.rpcUrl);
    expect(await rpc(one.rpcUrl, "eth_chainId")).toBe("0x7a69");
    expect(await rpc(two.rpcUrl, "eth_chainId")).toBe("0x14a34");
  });

  it("does not take over a node that is not on the recorded block, and does not leave it running", async () => {
    // given a running node and a record that names a block of another chain
    const dataDir = await dataFolder();
    const first = await startChain({ dataDir, say });
    const path = join(dataDir, "chain.json");
    const record = await recorded(dataDir);
    await writeFile(
      path,
      JSON.stringify({ ...record, block: { ...record.block, hash: `0x${"0".repeat(64)}` } }),
    );
    // when the chain is started again
    const second = await startChain({ dataDir, say });
    // then it is a new node, and the only one
    expect(second.adopted).toBe(false);
    expect(await isAlive(first.pid)).toBe(false);
  });
});

describe("a stop", () => {
  it("ends a node that does not answer any more, within ten seconds, and the next start mines again", async () => {
    // given a node that hangs
    const dataDir = await dataFolder();
    const chain = await startChain({ dataDir, say });
    process.kill(chain.pid, "SIGSTOP");
    // when it is stopped
    const began = performance.now();
    await chain.stop();
    // then it is gone in time, and the chain starts again
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await isAlive(chain.pid)).toBe(false);
    const { rpcUrl } = await startChain({ dataDir, say });
    await expect
      .poll(async () => (await blockAt(rpcUrl, "latest"))?.number, { timeout: 5000 })
      .toBeGreaterThan(1);
  });

  it("that was killed half-way leaves a node that the next start sets going", async () => {
    const dataDir = await dataFolder();
    const first = await startChain({ dataDir, say });
    await rpc(first.rpcUrl, "anvil_setIntervalMining", [0]); // what a stop does first
    const second = await startChain({ dataDir, say });
    const before = await blockAt(second.rpcUrl, "latest");
    await expect
      .poll(async () => (await blockAt(second.rpcUrl, "latest"))?.number, { timeout: 5000 })
      .toBeGreaterThan(before?.number ?? 0);
    expect([second.adopted, second.pid]).toEqual([true, first.pid]);
  });
});

describe.runIf(isRoot)("startChain below a folder that nobody can enter", () => {
  it("goes on with the same chain", async () => {
    const dataDir = await dataFolder(0o700);
    const first = await startChain({ dataDir, say });
    const genesis = await blockAt(first.rpcUrl, 0);
    await first.stop();
    const second = await startChain({ dataDir, say });
    expect(await blockAt(second.rpcUrl, 0)).toEqual(genesis);
  });
});

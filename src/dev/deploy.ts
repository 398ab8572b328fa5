/** What a fresh local chain needs to be paid on: tokens, the batching contract, the payment router, a payer with money,
 *  gas for the signers. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseAbi,
  parseEther,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type Artifacts, loadArtifacts, routerCreation } from "../../contracts/index.ts";
import { deriveKey } from "../keys.ts";
import { type DevSymbol, devTokenDecimals, devTokens } from "./dev-tokens.ts";
import { rpc } from "./rpc.ts";

export interface DeployOptions {
  readonly rpcUrl: string;
  readonly masterSecret: string;
  /** Default 1. */
  readonly blockTimeSeconds?: number;
}

export interface KeyPair {
  readonly address: Address;
  readonly privateKey: Hex;
}

export interface DevContracts {
  readonly assets: Readonly<Record<DevSymbol, Address>>;
  /** Code behind the proxies, for tests that etch it elsewhere. */
  readonly tokenImplementation: Address;
  readonly aggregate3: Address;
  /** Takes payments of orders that `operator` signed. */
  readonly router: Address;
  readonly operator: KeyPair;
  readonly treasury: KeyPair;
  readonly payer: KeyPair;
  readonly signers: readonly KeyPair[];
  /** Owner of the tokens: mints, pauses, blocks. */
  readonly deployer: KeyPair;
}

/** Where Multicall3 stands on every public chain. */
export const multicall3Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

const tokenAbi = parseAbi([
  "function initialize(string name, string symbol, string version, address owner)",
  "function mint(address to, uint256 value)",
]);
/** Of the gas keys of a local deployment. */
export const signerLabels = ["signer:0", "signer:1", "signer:2", "signer:3"] as const;
/** Nonce of the router's deployment: its place among the steps, which tells its address. */
const routerStep = 1 + 2 * devTokens.length + 1 + signerLabels.length;
const payerTokens = 1_000_000n * 10n ** BigInt(devTokenDecimals);
const gasMoney = parseEther("100");
/** A block of a local chain is final when so many stand on it. */
const blocksUntilFinal = 2n;

/** One transaction of the deployer. Its place in the list is its nonce. */
interface Step {
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas: bigint;
}

interface Sent {
  readonly hash: Hex;
  readonly raw: Hex;
}

/** Deploys and funds what is missing. The deployer's nonce tells how far an earlier start came, so each step happens
 *  once in the chain's life: a payer who spent is not made rich again by a restart. All of it is final when this
 *  resolves: a chain that lost its contracts to a reorganisation would not get them back. */
export async function deployDevContracts(options: DeployOptions): Promise<DevContracts> {
  const { rpcUrl, masterSecret, blockTimeSeconds = 1 } = options;
  const artifacts = await loadArtifacts();
  const contracts = layout(masterSecret);
  await rpc(rpcUrl, "anvil_setCode", [multicall3Address, artifacts.aggregate3.deployedBytecode]);
  const deployer = privateKeyToAccount(contracts.deployer.privateKey);
  const done = await nonceOf(rpcUrl, deployer.address);
  if (done === 0) await rpc(rpcUrl, "anvil_setBalance", [deployer.address, hex(parseEther("10000"))]);
  const sent = await send(rpcUrl, deployer, steps(contracts, artifacts), done);
  for (const each of sent) await demandSuccess(rpcUrl, each, blockTimeSeconds);
  if (sent.length > 0) await rpc(rpcUrl, "anvil_mine", [hex(blocksUntilFinal)]);
  return contracts;
}

function layout(masterSecret: string): DevContracts {
  const pair = (label: Parameters<typeof deriveKey>[1]): KeyPair => {
    const privateKey = deriveKey(masterSecret, label);
    return { address: privateKeyToAccount(privateKey).address, privateKey };
  };
  const deployer = pair("deployer");
  const created = (nonce: number) => getContractAddress({ from: deployer.address, nonce: BigInt(nonce) });
  return {
    assets: { USDC: created(1), EURC: created(2), USDG: created(3) },
    tokenImplementation: created(0),
    aggregate3: multicall3Address,
    router: created(routerStep),
    operator: pair("operator"),
    treasury: pair("treasury"),
    payer: pair("payer"),
    signers: signerLabels.map(pair),
    deployer,
  };
}

/** In the order of their nonces: a step is never moved or removed, new ones go to the end. */
function steps(contracts: DevContracts, artifacts: Artifacts): readonly Step[] {
  const { payer, signers, operator } = contracts;
  const mint = encodeFunctionData({
    abi: tokenAbi,
    functionName: "mint",
    args: [payer.address, payerTokens],
  });
  return [
    { data: artifacts.devToken.bytecode, gas: 5_000_000n },
    ...devTokens.map((token) => ({ data: proxyOf(token, contracts, artifacts), gas: 1_000_000n })),
    ...devTokens.map(({ symbol }) => ({ to: contracts.assets[symbol], data: mint, gas: 200_000n })),
    ...[payer, ...signers].map(({ address }) => ({ to: address, value: gasMoney, gas: 21_000n })),
    { data: routerCreation(artifacts, operator.address), gas: 2_000_000n },
  ];
}

function proxyOf(
  token: (typeof devTokens)[number],
  contracts: DevContracts,
  { erc1967Proxy }: Artifacts,
): Hex {
  const args = [token.name, token.symbol, token.version, contracts.deployer.address] as const;
  const init = encodeFunctionData({ abi: tokenAbi, functionName: "initialize", args });
  const { abi, bytecode } = erc1967Proxy;
  return encodeDeployData({ abi, bytecode, args: [contracts.tokenImplementation, init] });
}

/** Sends the steps that are not done; the same step gives the same bytes, so one that waits already is not doubled. */
async function send(
  url: string,
  from: PrivateKeyAccount,
  all: readonly Step[],
  done: number,
): Promise<Sent[]> {
  const chainId = Number(await rpc<Hex>(url, "eth_chainId"));
  const sent: Sent[] = [];
  for (const [nonce, step] of all.entries()) {
    if (nonce < done) continue;
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
    const raw = await from.signTransaction({ type: "eip1559", chainId, nonce, ...fees, ...step });
    const hash = await submit(url, raw);
    if (hash) sent.push({ hash, raw });
  }
  return sent;
}

/** Undefined for what is there already. */
function submit(url: string, raw: Hex): Promise<Hex | undefined> {
  return rpc<Hex>(url, "eth_sendRawTransaction", [raw]).catch(ignoreKnown);
}

function ignoreKnown(error: Error): undefined {
  if (!/already (known|imported)|nonce too low/i.test(error.message)) throw error;
}

/** How often a transaction is helped on. */
const MOST_NUDGES = 3;

/** A busy node that mines each transaction as it comes was seen to leave one lying, and to lose one: the same bytes sent
 *  again and a block that is asked for help either. */
async function demandSuccess(url: string, { hash, raw }: Sent, blockTimeSeconds: number): Promise<void> {
  const patience = 5_000 + blockTimeSeconds * 2_500;
  let since = performance.now();
  for (let nudges = 0; ; ) {
    const receipt = await rpc<{ status: Hex } | null>(url, "eth_getTransactionReceipt", [hash]);
    if (receipt?.status === "0x1") return;
    if (receipt) throw new Error(`a deployment transaction failed: ${hash}`);
    if (performance.now() - since > patience) {
      if (nudges === MOST_NUDGES) throw new Error(`a deployment transaction is not mined: ${hash}`);
      await submit(url, raw);
      await rpc(url, "anvil_mine", ["0x1"]);
      nudges += 1;
      since = performance.now();
    }
    await sleep(50);
  }
}

async function nonceOf(url: string, address: Address): Promise<number> {
  return Number(await rpc<Hex>(url, "eth_getTransactionCount", [address, "latest"]));
}

function hex(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

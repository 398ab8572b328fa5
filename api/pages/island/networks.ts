import { codeOf, type Provider } from "./eip1193.ts";

/** Public entrances to networks that a wallet may not know. Ours are never told to a browser. */
const known: Readonly<Record<number, { readonly rpc: string; readonly coin: string }>> = {
  1: { rpc: "https://cloudflare-eth.com", coin: "ETH" },
  10: { rpc: "https://mainnet.optimism.io", coin: "ETH" },
  137: { rpc: "https://polygon-rpc.com", coin: "POL" },
  8453: { rpc: "https://mainnet.base.org", coin: "ETH" },
  42161: { rpc: "https://arb1.arbitrum.io/rpc", coin: "ETH" },
  43114: { rpc: "https://api.avax.network/ext/bc/C/rpc", coin: "AVAX" },
  57073: { rpc: "https://rpc-gel.inkonchain.com", coin: "ETH" },
  84532: { rpc: "https://sepolia.base.org", coin: "ETH" },
  11155111: { rpc: "https://rpc.sepolia.org", coin: "ETH" },
};
const UNKNOWN_CHAIN = 4902;

export interface Network {
  readonly chainId: number;
  readonly chainName: string;
  readonly explorer: string;
}

/** The wallet cannot be brought to the network of the payment. */
export class WrongNetwork extends Error {}

/** Brings a wallet to a network, adding it where it is not known. Throws `WrongNetwork`. */
export async function ensureNetwork(provider: Provider, network: Network): Promise<void> {
  const chainId = `0x${network.chainId.toString(16)}`;
  const isThere = async () =>
    BigInt(String(await provider.request({ method: "eth_chainId" }))) === BigInt(chainId);
  if (await isThere()) return;
  const change = () => provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN) throw error;
    await add(provider, network, chainId);
    await change();
  }
  if (!(await isThere())) throw new WrongNetwork();
}

async function add(
  provider: Provider,
  { chainId: id, chainName, explorer }: Network,
  chainId: string,
): Promise<void> {
  const { rpc, coin } = known[id] ?? {};
  if (!rpc || !coin) throw new WrongNetwork();
  const nativeCurrency = { name: coin, symbol: coin, decimals: 18 };
  const rest = explorer ? { blockExplorerUrls: [explorer] } : {};
  const params = [{ chainId, chainName, rpcUrls: [rpc], nativeCurrency, ...rest }];
  await provider.request({ method: "wallet_addEthereumChain", params });
}

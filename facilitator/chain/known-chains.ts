/** The chains Farebox knows by itself. Values are data: `FAREBOX_CHAINS` picks among them and may override some. */
export interface KnownChain {
  readonly slug: string;
  readonly chainId: number;
  /** Where people look up its transactions, at `/tx/{hash}`; left out where nobody keeps such a page. */
  readonly explorer?: string;
  readonly blockTimeSeconds: number;
  readonly inclusionSeconds: number;
  readonly depth: { readonly x402: number; readonly standard: number; readonly high: number };
  readonly batchLimit: number;
  /** Wei. */
  readonly maxFeePerGasCap: bigint;
  /** Atomic units; about what a batched settle costs there. */
  readonly dustFloor: bigint;
  /** Symbol → contract, the chain's default asset first. */
  readonly assets: Readonly<Record<string, string>>;
}

const GWEI = 1_000_000_000n;
/** Most items whose gas with its margin (1.2 × estimate + 20,000 each) fits a transaction's cap. */
const FULL_BATCH = 234;
const USDG_EVERYWHERE = "0xe343167631d89B6Ffc58B88d6b7fB0228795491D";

const rollup = {
  inclusionSeconds: 9,
  batchLimit: FULL_BATCH,
  maxFeePerGasCap: 5n * GWEI,
  dustFloor: 1000n,
} as const;
/** No real money: nothing is too small, and test networks' fees jump. */
const testnet = { batchLimit: FULL_BATCH, maxFeePerGasCap: 100n * GWEI, dustFloor: 1n } as const;

export const knownChains: readonly KnownChain[] = [
  {
    ...rollup,
    slug: "base",
    chainId: 8453,
    explorer: "https://basescan.org",
    blockTimeSeconds: 2,
    depth: { x402: 1, standard: 12, high: 90 },
    assets: {
      USDC: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      EURC: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
    },
  },
  {
    slug: "ethereum",
    chainId: 1,
    explorer: "https://etherscan.io",
    blockTimeSeconds: 12,
    inclusionSeconds: 36,
    depth: { x402: 2, standard: 12, high: 64 },
    batchLimit: FULL_BATCH,
    maxFeePerGasCap: 100n * GWEI,
    dustFloor: 1_000_000n,
    assets: {
      USDC: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
      EURC: "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c",
      USDG: USDG_EVERYWHERE,
    },
  },
  {
    ...rollup,
    slug: "polygon",
    chainId: 137,
    explorer: "https://polygonscan.com",
    blockTimeSeconds: 2,
    depth: { x402: 3, standard: 32, high: 128 },
    maxFeePerGasCap: 1500n * GWEI, // paid in POL, which is worth far less than ether
    assets: { USDC: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359" },
  },
  {
    ...rollup,
    slug: "arbitrum",
    chainId: 42161,
    explorer: "https://arbiscan.io",
    blockTimeSeconds: 0.25,
    depth: { x402: 4, standard: 240, high: 1200 },
    assets: { USDC: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" },
  },
  {
    ...rollup,
    slug: "optimism",
    chainId: 10,
    explorer: "https://optimistic.etherscan.io",
    blockTimeSeconds: 2,
    depth: { x402: 1, standard: 12, high: 90 },
    assets: { USDC: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85" },
  },
  {
    ...rollup,
    slug: "avalanche",
    chainId: 43114,
    explorer: "https://snowtrace.io",
    blockTimeSeconds: 2,
    depth: { x402: 1, standard: 1, high: 3 },
    batchLimit: 100, // its blocks are hardly larger than one full batch
    maxFeePerGasCap: 300n * GWEI,
    assets: {
      USDC: "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
      EURC: "0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD",
    },
  },
  {
    ...rollup,
    slug: "ink",
    chainId: 57073,
    explorer: "https://explorer.inkonchain.com",
    blockTimeSeconds: 1,
    depth: { x402: 1, standard: 20, high: 120 },
    assets: { USDG: USDG_EVERYWHERE, USDC: "0x2D270e6886d130D724215A266106e6832161EAEd" },
  },
  {
    ...rollup,
    slug: "robinhood",
    chainId: 4663,
    blockTimeSeconds: 0.25,
    depth: { x402: 4, standard: 240, high: 1200 },
    assets: { USDG: "0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168" },
  },
  {
    ...testnet,
    slug: "base-sepolia",
    chainId: 84532,
    explorer: "https://sepolia.basescan.org",
    blockTimeSeconds: 2,
    inclusionSeconds: 9,
    depth: { x402: 1, standard: 2, high: 2 },
    assets: { USDC: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
  },
  {
    ...testnet,
    slug: "sepolia",
    chainId: 11155111,
    explorer: "https://sepolia.etherscan.io",
    blockTimeSeconds: 12,
    inclusionSeconds: 36,
    depth: { x402: 1, standard: 2, high: 2 },
    assets: { USDC: "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238" },
  },
  {
    ...testnet,
    slug: "local",
    chainId: 31337,
    blockTimeSeconds: 1,
    inclusionSeconds: 2,
    depth: { x402: 1, standard: 1, high: 1 },
    maxFeePerGasCap: 500n * GWEI,
    assets: {}, // deployed at start, so each deployment names its own
  },
];

/** What we assume of a chain that nobody told us about: that it is slow, forks, and costs something. */
export function unknownChain({
  slug,
  chainId,
  blockTimeSeconds = 12,
}: {
  slug: string;
  chainId: number;
  blockTimeSeconds?: number | undefined;
}): KnownChain {
  return {
    slug,
    chainId,
    blockTimeSeconds,
    inclusionSeconds: Math.max(9, Math.ceil(3 * blockTimeSeconds)),
    depth: { x402: 12, standard: 12, high: 64 },
    batchLimit: 50,
    maxFeePerGasCap: 100n * GWEI,
    dustFloor: 1000n,
    assets: {},
  };
}

/** Arbitrum and chains built like it, where a contract that asks for the block's number gets that of the parent chain. */
export function countsParentBlocks(chainId: number): boolean {
  return chainId === 42161 || chainId === 421614 || chainId === 4663;
}

/** The closed list of the v1 package. A v1 client throws on any other name, so no other name is ever given. */
export const v1Names: Readonly<Record<number, string>> = {
  8453: "base",
  84532: "base-sepolia",
  43114: "avalanche",
  43113: "avalanche-fuji",
  137: "polygon",
  80002: "polygon-amoy",
  2741: "abstract",
  11124: "abstract-testnet",
  4689: "iotex",
  1329: "sei",
  1328: "sei-testnet",
  3338: "peaq",
  1514: "story",
  41923: "educhain",
  324705682: "skale-base-sepolia",
};

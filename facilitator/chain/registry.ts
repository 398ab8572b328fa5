import { isStablecoin, pegs } from "#kernel/asset";
import { type Address, address, parseAddress } from "#kernel/bytes";
import { parseDecimal } from "#kernel/money";
import { type GasBudgets, gasBudgetsOf } from "./gas-budgets.ts";
import { type KnownChain, knownChains, unknownChain, v1Names } from "./known-chains.ts";

/** A token that a chain accepts; domain and transfer method are read off the contract at boot. */
export interface TokenRow {
  readonly symbol: string;
  readonly contract: Address;
  readonly decimals: number;
}
/** Confirmations (the inclusion block counts as 1) that a value tier waits for before it is credited. */
export interface Depth {
  readonly x402: number;
  readonly standard: number;
  readonly high: number;
}
/** One chain, as data. */
export interface ChainRow {
  readonly slug: string;
  readonly chainId: number;
  /** CAIP-2. */
  readonly network: `eip155:${number}`;
  /** v1's name of the network, where v1 has one. */
  readonly v1Name: string | null;
  readonly isLocal: boolean;
  /** Where people look up its transactions, at `/tx/{hash}`; null where there is no such page. */
  readonly explorer: string | null;
  readonly rpcUrls: readonly string[];
  /** Calls that its endpoints take together; null where nothing is counted. */
  readonly rpcPerSecond: number | null;
  readonly blockTimeSeconds: number;
  /** p99 seconds from sending to inclusion: part of the freshness floor. */
  readonly inclusionSeconds: number;
  readonly depth: Depth;
  readonly treasury: Address;
  /** Takes payments of signed orders; null where none stands, or where it is not our operator's. */
  readonly router: Address | null;
  readonly tokens: readonly TokenRow[];
  readonly multicall: Address | null;
  /** Most items in one batch; 1 where Multicall3 is missing. */
  readonly batchLimit: number;
  readonly transactionGasCap: bigint;
  /** Wei; above it nothing is sent. */
  readonly maxFeePerGasCap: bigint;
  readonly gasBudgets: GasBudgets;
  /** The most of a token that leaves the treasury in 24 hours, in atomic units; without an entry there is no limit. */
  readonly dailyLimits: ReadonlyMap<Address, bigint>;
  /** What leaves the treasury of a token in one transfer without an operator's approval, in atomic units; without an entry
   *  everything does. */
  readonly approvalsAbove: ReadonlyMap<Address, bigint>;
  /** Least amount taken, in atomic units of the token. */
  readonly dustFloor: bigint;
}

/** One entry of `FAREBOX_CHAINS`, of the right shape; what it leaves out comes from the table of known chains. */
export interface ChainConfig {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  /** Calls that its endpoints take together, from each process. */
  readonly rpcPerSecond?: number | undefined;
  readonly treasury: string;
  /** Our payment router; without one nobody pays through a contract there. */
  readonly router?: string | undefined;
  /** A block explorer, for a chain that we know none of. */
  readonly explorer?: string | undefined;
  readonly blockTimeSeconds?: number | undefined;
  /** Confirmations of the standard tier; x402 payments never wait for more than this. */
  readonly confirmations?: number | undefined;
  /** Wei an hour; a budget that is left out is the usual one. */
  readonly gasBudgets?: { readonly [K in keyof GasBudgets]?: bigint | undefined } | undefined;
  readonly assets?: readonly { readonly symbol: string; readonly contract: string }[] | undefined;
  /** Decimals by symbol: the most that leaves the treasury in 24 hours. */
  readonly dailyLimits?: Readonly<Record<string, string>> | undefined;
  /** Decimals by symbol: more than this in one transfer leaves the treasury when an operator has approved it. */
  readonly approvalsAbove?: Readonly<Record<string, string>> | undefined;
}

/** Where Multicall3 stands on every public chain, and our own contract on the local one. */
export const MULTICALL3 = address("0xcA11bde05977b3631167028862bE2a173976CA11");
const LOCAL_CHAIN_ID = 31337;
export const STABLECOIN_DECIMALS = 6;
/** A transaction's gas limit on Base (and by EIP-7825); kept everywhere, because a local node does not enforce it. */
const TRANSACTION_GAS_CAP = 16_777_216n;
const RPC_PER_SECOND = 500;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** The row of one configured chain. Throws one sentence that names `FAREBOX_CHAINS` and what to set. */
export function chainRow(config: ChainConfig): ChainRow {
  const known = knownChains.find(({ chainId }) => chainId === config.chainId);
  const facts = known ?? unknownChain(config);
  checkNames(config);
  const isLocal = config.chainId === LOCAL_CHAIN_ID;
  const listed = tokens(config, facts.assets);
  return {
    slug: config.slug,
    chainId: config.chainId,
    network: `eip155:${config.chainId}`,
    v1Name: v1Names[config.chainId] ?? null,
    isLocal,
    explorer: explorerOf(config) ?? facts.explorer ?? null,
    rpcUrls: rpcUrls(config),
    rpcPerSecond: rpcPerSecond(config, isLocal),
    blockTimeSeconds: positive(config, "blockTimeSeconds", config.blockTimeSeconds ?? facts.blockTimeSeconds),
    inclusionSeconds: facts.inclusionSeconds,
    depth: depth(config, facts.depth),
    treasury: addressOf(config, "treasury", config.treasury),
    router: config.router === undefined ? null : addressOf(config, "router", config.router),
    tokens: listed,
    dailyLimits: amounts(config, listed, "dailyLimits"),
    approvalsAbove: amounts(config, listed, "approvalsAbove"),
    multicall: MULTICALL3,
    batchLimit: facts.batchLimit,
    transactionGasCap: TRANSACTION_GAS_CAP,
    maxFeePerGasCap: facts.maxFeePerGasCap,
    gasBudgets: gasBudgetsOf({ isLocal, maxFeePerGasCap: facts.maxFeePerGasCap }, config.gasBudgets),
    dustFloor: facts.dustFloor,
  };
}

/** The rows of a whole configuration. Throws, too, when two entries share a slug or a chain id. */
export function chainRows(configs: readonly ChainConfig[]): readonly ChainRow[] {
  const rows = configs.map(chainRow);
  for (const key of ["slug", "chainId"] as const) {
    const seen = new Set<string | number>();
    for (const row of rows) {
      if (seen.has(row[key])) throw new Error(`FAREBOX_CHAINS: two entries have the ${key} ${row[key]}`);
      seen.add(row[key]);
    }
  }
  return rows;
}

function checkNames(config: ChainConfig): void {
  if (!Number.isSafeInteger(config.chainId) || config.chainId < 1) {
    throw problem(config, `chainId must be a positive whole number, not ${config.chainId}`);
  }
  if (!SLUG.test(config.slug)) throw problem(config, "slug must be lower-case words joined by hyphens");
  // A slug is an address in the books (USDC@base): under a foreign id it would mix two chains' money.
  const owner = knownChains.find(({ slug }) => slug === config.slug);
  if (owner && owner.chainId !== config.chainId) {
    throw problem(config, `chainId must be ${owner.chainId}, or choose another slug`);
  }
}

function rpcPerSecond(config: ChainConfig, isLocal: boolean): number | null {
  if (isLocal && config.rpcPerSecond === undefined) return null;
  const calls = positive(config, "rpcPerSecond", config.rpcPerSecond ?? RPC_PER_SECOND);
  if (!Number.isSafeInteger(calls)) throw problem(config, "rpcPerSecond must be a whole number");
  return calls;
}

function rpcUrls(config: ChainConfig): readonly string[] {
  if (config.rpcUrls.length === 0) throw problem(config, "rpcUrls needs at least one URL");
  config.rpcUrls.forEach((url, i) => {
    // The URL itself may hold a key, so it is counted, not shown.
    const isHttp = URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
    if (!isHttp) throw problem(config, `rpcUrls[${i}] must be an http or https URL`);
  });
  return config.rpcUrls;
}

/** Shown to people as a link, so it is a link and nothing else. */
function explorerOf({ explorer, ...config }: ChainConfig): string | null {
  if (explorer === undefined) return null;
  const url = URL.canParse(explorer) ? new URL(explorer) : null;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search !== "" || url.hash !== "")
    throw problem(config, "explorer must be an http or https URL");
  return url.href.replace(/\/+$/, "");
}

function depth(config: ChainConfig, known: Depth): Depth {
  if (config.confirmations === undefined) return known;
  const standard = positive(config, "confirmations", config.confirmations);
  if (!Number.isSafeInteger(standard)) throw problem(config, "confirmations must be a whole number");
  return { x402: Math.min(known.x402, standard), standard, high: Math.max(known.high, standard) };
}

function tokens(config: ChainConfig, known: KnownChain["assets"]): readonly TokenRow[] {
  const listed = config.assets ?? Object.entries(known).map(([symbol, contract]) => ({ symbol, contract }));
  if (listed.length === 0) throw problem(config, "assets needs at least one {symbol, contract}");
  const rows = listed.map(({ symbol, contract }) => {
    if (!isStablecoin(symbol)) {
      throw problem(
        config,
        `the asset ${symbol} is not supported; known are ${Object.keys(pegs).join(", ")}`,
      );
    }
    return {
      symbol,
      contract: addressOf(config, `the contract of ${symbol}`, contract),
      decimals: STABLECOIN_DECIMALS,
    };
  });
  for (const key of ["symbol", "contract"] as const) {
    if (new Set(rows.map((row) => row[key])).size < rows.length) {
      throw problem(config, `assets names a ${key} twice`);
    }
  }
  return rows;
}

function amounts(
  config: ChainConfig,
  listed: readonly TokenRow[],
  what: "dailyLimits" | "approvalsAbove",
): ReadonlyMap<Address, bigint> {
  const entries = Object.entries(config[what] ?? {}).map(([symbol, text]) => {
    const token = listed.find((row) => row.symbol === symbol);
    if (!token) throw problem(config, `${what} names ${symbol}, which is none of its assets`);
    const amount = parseDecimal(text, token.decimals);
    if (typeof amount !== "bigint")
      throw problem(config, `${what} of ${symbol} must be a decimal such as "50000.00", not ${text}`);
    return [token.contract, amount] as const;
  });
  return new Map(entries);
}

function addressOf(config: ChainConfig, what: string, text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed) throw problem(config, `${what} must be an address with a right checksum, not ${text}`);
  return parsed;
}

function positive(config: ChainConfig, what: string, value: number): number {
  if (!(value > 0)) throw problem(config, `${what} must be above 0`);
  return value;
}

function problem(config: ChainConfig, sentence: string): Error {
  return new Error(`FAREBOX_CHAINS, ${config.slug}: ${sentence}`);
}

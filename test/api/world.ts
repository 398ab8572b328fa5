import { type ApiConfig, type ApiDeps, createApi, fixedRates, type Rates, type Sandbox } from "#api";
import type {
  ChainFacts,
  Facilitator,
  Offer,
  PaymentRequest,
  Quote,
  RailFacts,
  SettleAnswer,
  Trust,
  VerifyAnswer,
} from "#facilitator";
import { address, checksum, hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { idMaker } from "#kernel/id";
import type { Log } from "#kernel/log";
import { systemClock, systemRandom } from "#kernel/system";
import type { Database } from "#store";

export const baseUrl = "https://pay.example";
export const now = new Date("2026-08-11T09:30:00.000Z");
export const clock: Clock = { now: () => now, monotonicMs: () => now.getTime(), sleep: systemClock.sleep };
export const newId = idMaker({ clock, random: systemRandom });
export const resourceId = "x402r_01K2C0Z0000000000000000000";
export const paymentId = "stl_01K2C0Z0000000000000000000";
export const usdc = address("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913");
export const treasury = address("0x00000000000000000000000000000000000000aa");
export const payer = address("0x00000000000000000000000000000000000000bb");
export const txHash = `0x${"12".repeat(32)}`;

/** Log lines that a test may look at. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const line = (level: string) => (fields: unknown, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  return { lines, info: line("info"), warn: line("warn"), error: line("error") };
}

export const rail: RailFacts = {
  chain: "base",
  network: "eip155:8453",
  v1Name: "base",
  explorer: "https://basescan.org",
  asset: "USDC",
  contract: checksum(usdc),
  decimals: 6,
  minimum: 1n,
  depth: { x402: 1, standard: 12, high: 90 },
  blockTimeSeconds: 2,
  payTo: checksum(treasury),
  router: null,
  transferMethod: "eip3009",
  domain: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: checksum(usdc) },
};

export const quote: Quote = {
  payable: {
    id: resourceId,
    kind: "resource",
    merchantId: "mer_01K2C0Z0000000000000000000",
    merchantName: "Weather House",
    url: "https://api.m.example/weather",
    title: null,
    description: "The weather of today",
    mimeType: "application/json",
    price: { amount: 10_000n, asset: "USD" },
    rails: [],
    maxTimeoutSeconds: 300,
    paymentFlow: "authorization",
    serviceName: "Weather",
    tags: ["weather"],
    iconUrl: null,
    extensions: {},
    feeBps: 0,
    once: false,
    listed: true,
    closedAt: null,
    createdAt: now,
    updatedAt: now,
  },
  options: [
    {
      scheme: "exact",
      network: "eip155:8453",
      chain: "base",
      symbol: "USDC",
      asset: usdc,
      amount: 10_000n,
      payTo: treasury,
      maxTimeoutSeconds: 300,
      transferMethod: "eip3009",
      domain: { name: "USD Coin", version: "2" },
    },
  ],
};

export const settledAnswer: SettleAnswer = {
  outcome: "settled",
  reason: null,
  message: null,
  transaction: txHash,
  network: "eip155:8453",
  payer,
  amount: "10000",
  paymentId,
  extra: { settledAt: now.toISOString(), settledBy: "farebox" },
  replayed: false,
};

/** What is known of a listing that was never probed nor paid. */
export const nothingKnown: Trust = {
  hostVerified: false,
  settledCount: 0,
  distinctPayers: 0,
  lastProbe: null,
  warning: null,
  isLookAlike: false,
};

/** The same as somebody meets it who may pay it. */
export const offer: Offer = { ...quote, everywhere: quote.options, state: "open", paymentId: null };

/** The chains of these rails, with no other tokens than theirs. */
function chainsOf(rails: readonly RailFacts[]): readonly ChainFacts[] {
  return rails
    .filter((one, at) => rails.findIndex(({ chain }) => chain === one.chain) === at)
    .map(({ chain, network, v1Name, explorer, depth, blockTimeSeconds, domain: { chainId } }) => ({
      ...{ chain, network, v1Name, explorer, depth, blockTimeSeconds, chainId },
      tokens: rails.filter((rail) => rail.chain === chain),
    }));
}

const noOrder = () => Promise.reject(new Error("this facilitator takes no orders"));

/** A facilitator that answers as scripted and remembers what it was asked. */
export interface FakeFacilitator extends Facilitator {
  readonly asked: PaymentRequest[];
  readonly released: string[];
  verdict: () => Promise<VerifyAnswer>;
  settlement: (closed: AbortSignal) => Promise<SettleAnswer>;
}

export function fakeFacilitator(changes: Partial<Facilitator> = {}): FakeFacilitator {
  const asked: PaymentRequest[] = [];
  const released: string[] = [];
  const fake: FakeFacilitator = {
    asked,
    released,
    verdict: async () => ({ outcome: "valid", payer }),
    settlement: async () => settledAnswer,
    quote: async (target) =>
      (target.by === "id" ? target.id === resourceId : target.url.startsWith(quote.payable.url))
        ? quote
        : null,
    offer: async (target) => (target.by === "id" && target.id !== resourceId ? null : offer),
    lookup: async () => ({ kind: "not-found" }),
    boundTo: async () => null,
    outgoing: {
      queue: async () => {},
      isOurs: async () => false,
      cancel: async () => false,
      status: async () => [],
    },
    payments: async () => [],
    deposits: { open: noOrder, resign: noOrder, arrivals: async () => [], take: async () => {} },
    verify: (request) => {
      asked.push(request);
      return fake.verdict();
    },
    settle: (request, { closed }) => {
      asked.push(request);
      return fake.settlement(closed);
    },
    releaseGrant: async (id) => {
      released.push(id);
    },
    status: async () => null,
    supported: async (id) =>
      id === undefined || id === resourceId
        ? { networks: [{ network: "eip155:8453", v1Name: "base", signers: [treasury] }] }
        : null,
    rails: () => [rail],
    chains: () => chainsOf(fake.rails()),
    refusedRails: () => [],
    discover: async () => ({ items: [{ ...quote, trust: nothingKnown }], total: 1 }),
    trust: async () => nothingKnown,
    project: async () => {},
    readmit: async () => {},
    once: { take: async () => true, leave: async () => {}, lock: async () => null },
    assess: async () => {},
    noteOwnWallets: async () => {},
    tidy: async () => {},
    hasCode: async () => false,
    isSignedBy: async () => false,
    ...changes,
  };
  return fake;
}

/** A sandbox whose world never changes. */
export const stillSandbox: Sandbox = {
  chain: {
    transfer: async () => hash(txHash),
    payOrder: async () => hash(txHash),
    reorg: async () => true,
  },
  clock: {
    clock,
    advance: async () => 1,
    everywhere: async () => {},
    start: () => {},
    stop: async () => {},
  },
  provider: null,
};

/** A database that must not be asked. */
const noDatabase = {
  get pool(): never {
    throw new Error("the database was asked");
  },
  tx: () => Promise.reject(new Error("the database was asked")),
} as unknown as Database;

export function world({
  db = noDatabase,
  facilitator = fakeFacilitator(),
  rateLimits = "off",
  allowLocalTargets = false,
  isReady = true,
  isSandbox = false,
  time = clock,
  ids = newId,
  revisions,
  rates,
  providers,
  sandbox,
  mail,
}: {
  db?: Database;
  facilitator?: FakeFacilitator;
  rateLimits?: "on" | "off";
  allowLocalTargets?: boolean;
  isReady?: boolean;
  isSandbox?: boolean;
  time?: Clock;
  /** Ids of another time than the fixed one. */
  ids?: typeof newId;
  revisions?: ApiConfig["revisions"];
  rates?: Rates;
  providers?: ApiDeps["providers"];
  sandbox?: Sandbox;
  mail?: ApiDeps["mail"];
} = {}) {
  const log = recordingLog();
  const api = createApi({
    db,
    facilitator,
    config: {
      baseUrl,
      masterSecret: "a master secret for tests",
      allowLocalTargets,
      rateLimits,
      version: "0.0.0",
      isSandbox,
      ...(revisions ? { revisions } : {}),
    },
    clock: time,
    newId: ids,
    log,
    rates: rates ?? fixedRates({ clock, log }),
    ...(providers ? { providers } : {}),
    sandbox,
    mail,
    ready: async () => ({ isReady, checks: { database: isReady } }),
  });
  return { ...api, facilitator, log };
}

export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

export const authorization = {
  from: payer,
  to: treasury,
  value: "10000",
  validAfter: "0",
  validBefore: "1786000000",
  nonce: `0x${"ab".repeat(32)}`,
};
export const requirements = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "10000",
  asset: checksum(usdc),
  payTo: checksum(treasury),
  maxTimeoutSeconds: 300,
  extra: { name: "USD Coin", version: "2" },
};
export const v2Body = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: requirements,
    payload: { signature: `0x${"cd".repeat(65)}`, authorization },
    resource: { url: "https://api.m.example/weather?city=Oslo" },
  },
  paymentRequirements: requirements,
};
export const v1Body = {
  x402Version: 1,
  paymentPayload: {
    x402Version: 1,
    scheme: "exact",
    network: "base",
    payload: { signature: `0x${"cd".repeat(65)}`, authorization },
  },
  paymentRequirements: {
    scheme: "exact",
    network: "base",
    maxAmountRequired: "10000",
    resource: "https://api.m.example/weather",
    description: "",
    mimeType: "application/json",
    payTo: checksum(treasury),
    maxTimeoutSeconds: 300,
    asset: checksum(usdc),
  },
};

/** A rail as the merchant API and a look-up show it. */
export function shownRail({ chain, asset, contract, payTo, transferMethod, domain }: RailFacts) {
  return { chain, asset, contract, payTo, transferMethod, domain };
}

import {
  createApi,
  createSafeFetch,
  fixedRates,
  liveRates,
  paymentCodec,
  quoter,
  type Rates,
  type Readiness,
} from "#api";
import {
  addressOf,
  type Chain,
  type ChainRow,
  type Checkpoint,
  type Custodian,
  checkRails,
  createFacilitator,
  type DepositAccount,
  defaultSettings,
  depositAccountOf,
  type Engine,
  health,
  localCustodian,
  localOperator,
  localSigner,
  type Meter,
  type OpenChain,
  type Operator,
  openEvmChain,
  type Reconciled,
  type Running,
  reconcileAll,
  type Settings,
} from "#facilitator";
import type { Hex } from "#kernel/bytes";
import type { Clock, Random } from "#kernel/clock";
import { idMaker, type NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import { imbalance } from "#ledger";
import { createMcp } from "#mcp";
import { type Database, openDatabase } from "#store";
import { noBackground, openBackground } from "./background.ts";
import { ConfigProblem, type Role } from "./config.ts";
import { deriveDepositSeed, deriveKey } from "./keys.ts";
import type { Sources } from "./metrics.ts";

/** What the house is built from; the shell picks them, tests pick others. */
export interface Parts {
  readonly databaseUrl: string;
  readonly chains: readonly ChainRow[];
  readonly signerKeys: readonly Hex[];
  /** Null where nothing is sent: refunds and payouts wait. */
  readonly treasuryKey: Hex | null;
  readonly masterSecret: string;
  readonly role: Role;
  readonly baseUrl: string;
  readonly rateLimits: "on" | "off";
  /** Host names by which agents may call the MCP endpoint, and pages from which, beside our own. */
  readonly mcpHosts?: readonly string[] | undefined;
  readonly mcpOrigins?: readonly string[] | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly meter: Meter;
  readonly onRpc?: (chain: string) => (method: string, ok: boolean, ms: number) => void;
  readonly settings?: Partial<Settings>;
  readonly checkpoint?: (step: Checkpoint) => Promise<void>;
  /** Stands between the engine and a chain: faults in tests. */
  readonly wrapChain?: (chain: Chain) => Chain;
  /** Other prices than those of the deployment's kind: made-up ones on a sandbox, those of the market elsewhere. */
  readonly rates?: Rates;
}

export interface House {
  readonly app: ReturnType<typeof createApi>["app"];
  readonly facilitator: Running["facilitator"];
  readonly sources: Sources;
  readonly db: Database;
  readonly newId: NewId;
  /** Books against chain, now, on every chain. */
  reconcile(): Promise<readonly Reconciled[]>;
  /** Resolves when every chain can be settled on, or after a few seconds without. */
  start(): Promise<void>;
  /** Unready from now on. Resolves after the pause in which a load balancer notices; then waiting settles are answered
   *  pending, and what else is under way goes on. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** None on a sandbox: nobody balances load over a laptop. */
const DRAIN_PAUSE_MS = 5_000;
const CONNECTIONS = { requests: 12, loops: 8 };

/** The one place that names every room. The database has been migrated. Rejects when a chain cannot be reached. */
export async function compose(parts: Parts): Promise<House> {
  const { clock, random, log, meter, role } = parts;
  const newId = idMaker({ clock, random });
  const url = parts.databaseUrl;
  const db = openDatabase({
    url,
    log,
    name: "requests",
    maxConnections: CONNECTIONS.requests,
    role: "farebox_app",
  });
  const loopDb = openDatabase({
    url,
    log,
    name: "loops",
    maxConnections: CONNECTIONS.loops,
    role: "farebox_app",
  });
  const accounts = accountsOf(parts);
  const chains = await Promise.all(parts.chains.map((row) => openChain(parts, row, accounts)));
  const engine: Engine = {
    db,
    loopDb,
    chains: new Map(chains.map((open) => [open.chain.row.chainId, open])),
    clock,
    newId,
    log,
    meter,
    checkpoint: parts.checkpoint ?? (async () => {}),
    holder: newId("req"),
    settings: { ...defaultSettings, ...parts.settings },
  };
  const running = createFacilitator(engine);
  let isStarted = false;
  let draining = false;
  const isSandbox = parts.chains.every(({ isLocal }) => isLocal);
  const { facilitator } = running;
  const { baseUrl, version } = parts;
  const rates = parts.rates ?? ratesOf(parts, { isSandbox });
  const agents = createMcp({
    facilitator,
    wire: paymentCodec({ facilitator, baseUrl }),
    quote: quoter({ facilitator, rates }),
    config: { baseUrl, version, allowedHosts: parts.mcpHosts, allowedOrigins: parts.mcpOrigins },
    clock,
    log,
  });
  const { app, jobs } = createApi({
    db,
    facilitator,
    agents,
    rates,
    clock,
    newId,
    log,
    ready: () => readiness(engine, { isStarted, draining }),
    config: {
      baseUrl,
      masterSecret: parts.masterSecret,
      allowLocalTargets: isSandbox,
      isSandbox,
      rateLimits: parts.rateLimits,
      version,
    },
  });
  const background =
    role === "web" ? noBackground : await openBackground(parts, { hearers: [running.hear], jobs });
  return {
    app,
    facilitator,
    db,
    newId,
    sources: {
      health: () => health(engine),
      imbalance: booksCheck(engine),
      pools: () => ({ requests: db.usage(), loops: loopDb.usage() }),
    },
    reconcile: () => reconcileAll(engine),
    async start() {
      running.start({ moneyLoops: role !== "web" });
      background.start();
      await untilWorking(engine, facilitator);
      isStarted = true;
    },
    async drain() {
      draining = true;
      if (!isSandbox) await clock.sleep(DRAIN_PAUSE_MS);
      running.drain();
    },
    async close() {
      await Promise.all([running.stop(), background.stop(), agents.close()]);
      await Promise.all([db.close(), loopDb.close()]);
    },
  };
}

const BOOKS_EVERY_MS = 60_000;

/** The books' imbalance, at most a minute old: to find it every transfer there is is read. */
function booksCheck({ clock, loopDb }: Engine): Sources["imbalance"] {
  let last: { readonly atMs: number; readonly found: ReturnType<Sources["imbalance"]> } | null = null;
  return () => {
    const atMs = clock.monotonicMs();
    if (!last || atMs - last.atMs > BOOKS_EVERY_MS) last = { atMs, found: imbalance(loopDb.pool) };
    return last.found;
  };
}

const FIRST_LOOK_MS = 5_000;

/** A stock merchant server that asks for `supported` before a chain was followed refuses to work: we say that we are
 *  ready only after. A chain that stays dark is no reason to stay down. */
async function untilWorking({ chains, clock }: Engine, facilitator: Running["facilitator"]): Promise<void> {
  const wanted = [...chains.values()].filter(({ rails }) => rails.some(({ ok }) => ok)).length;
  const deadline = clock.monotonicMs() + FIRST_LOOK_MS;
  while (clock.monotonicMs() < deadline) {
    const supported = await facilitator.supported();
    if ((supported?.networks.length ?? 0) >= wanted) return;
    await clock.sleep(50);
  }
}

/** What a rate source may take of our time, and how much of its answer is read. */
const SOURCE_LIMITS = { connectMs: 1_500, totalMs: 4_000, maxBytes: 262_144 };

function ratesOf({ clock, log, version }: Parts, { isSandbox }: { readonly isSandbox: boolean }): Rates {
  if (isSandbox) return fixedRates({ clock, log });
  const fetch = createSafeFetch({
    allowLocal: false,
    userAgent: `farebox/${version}`,
    limits: SOURCE_LIMITS,
  });
  return liveRates({ fetch, clock, log });
}

/** What the deployment signs with on every chain alike. */
interface Accounts {
  readonly operator: Operator;
  readonly depositAccount: DepositAccount;
}

function accountsOf({ masterSecret, role }: Parts): Accounts {
  return {
    operator: localOperator(deriveKey(masterSecret, "operator")),
    depositAccount: depositAccountOf(deriveDepositSeed(masterSecret), { canSign: role !== "web" }),
  };
}

async function openChain(parts: Parts, row: ChainRow, accounts: Accounts): Promise<OpenChain> {
  const { log } = parts;
  const onRpc = parts.onRpc?.(row.slug);
  const opened = await openEvmChain({ row, log, clock: parts.clock, onRpc });
  const chain = parts.wrapChain?.(opened) ?? opened;
  const rails = await checkRails(chain);
  for (const rail of rails)
    if (!rail.ok) log.error({ chain: row.slug, asset: rail.token.symbol }, `rail refused: ${rail.problem}`);
  const signers = parts.role === "web" ? [] : parts.signerKeys.map((key) => localSigner(key, [chain.row]));
  const custodian = parts.role === "web" || !parts.treasuryKey ? null : custodianOf(row, parts.treasuryKey);
  return { chain, rails, signers, custodian, ...accounts, laneAddresses: parts.signerKeys.map(addressOf) };
}

/** Rejects a key that is not the treasury's: what it signed would move nothing, and every payout would fail. */
function custodianOf({ slug, treasury }: ChainRow, key: Hex): Custodian {
  const custodian = localCustodian(key);
  if (custodian.address === treasury) return custodian;
  throw new ConfigProblem(
    `FAREBOX_TREASURY_KEY is not the key of ${slug}'s treasury ${treasury}. Set the right key, or the right treasury in FAREBOX_CHAINS.`,
  );
}

async function readiness(
  engine: Engine,
  { isStarted, draining }: { readonly isStarted: boolean; readonly draining: boolean },
): Promise<Readiness> {
  const refused = [...engine.chains.values()].flatMap(({ chain, rails }) =>
    rails.flatMap((rail) =>
      rail.ok ? [] : [{ chain: chain.row.slug, asset: rail.token.symbol, problem: rail.problem }],
    ),
  );
  try {
    const { chains, openClaims, undeliveredFacts } = await health(engine);
    return {
      isReady: isStarted && !draining,
      checks: {
        draining,
        database: "ok",
        chains,
        refusedRails: refused,
        openClaims,
        undeliveredFacts,
      },
    };
  } catch {
    return {
      isReady: false,
      checks: { draining, database: "unreachable", refusedRails: refused },
    };
  }
}

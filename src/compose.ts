import {
  areCaughtUp,
  createApi,
  createSafeFetch,
  fixedRates,
  intentDeriver,
  liveRates,
  type Mailer,
  mailBacklog,
  openMovableClock,
  paymentCodec,
  quoter,
  type Rates,
  type Sandbox,
  type SandboxChain,
  sandboxAccess,
  sandboxProvider,
} from "#api";
import {
  adoptSlugs,
  adoptTreasury,
  budgetUse,
  type ChainRow,
  type Checkpoint,
  createFacilitator,
  defaultSettings,
  type Engine,
  health,
  type Meter,
  outlook,
  type Running,
  type Settings,
} from "#facilitator";
import type { Random } from "#kernel/clock";
import { idMaker, type NewId } from "#kernel/id";
import { createMcp } from "#mcp";
import { type Database, type DbOptions, openDatabase, openPresence } from "#store";
import { type Background, noBackground, openBackground } from "./background.ts";
import { booksCheck, booksJobs } from "./books.ts";
import { ConfigProblem } from "./config.ts";
import type { Sources } from "./metrics.ts";
import { looped } from "./money-loop.ts";
import { accountsOf, type ChainParts, openChain } from "./open-chain.ts";
import { type OperatorDesk, operatorDesk } from "./operator-desk.ts";
import { readiness, untilWorking } from "./readiness.ts";
import { railWatches } from "./watch-rails.ts";

/** What the house is built from; the shell picks them, tests pick others. */
export interface Parts extends ChainParts {
  readonly databaseUrl: string;
  readonly chains: readonly ChainRow[];
  readonly baseUrl: string;
  readonly rateLimits: "on" | "off";
  /** None when left out. */
  readonly trustedProxyHops?: number;
  /** Host names by which agents may call the MCP endpoint, and pages from which, beside our own. */
  readonly mcpHosts?: readonly string[] | undefined;
  readonly mcpOrigins?: readonly string[] | undefined;
  readonly version: string;
  readonly random: Random;
  readonly meter: Meter;
  readonly settings?: Partial<Settings>;
  readonly checkpoint?: (step: Checkpoint) => Promise<void>;
  /** Other prices than those of the deployment's kind: made-up ones on a sandbox, those of the market elsewhere. */
  readonly rates?: Rates;
  /** The way out for mail and the address that it comes from; without it none is written. */
  readonly mail?: { readonly mailer: Mailer; readonly from: string } | undefined;
  /** What a sandbox needs for its test routes; not looked at where a chain is not local. */
  readonly sandbox?: SandboxParts | undefined;
}

export interface SandboxParts {
  readonly chain: SandboxChain;
  /** Where the simulated provider listens; null where none runs. */
  readonly providerUrl: string | null;
}

export interface House extends OperatorDesk {
  /** What it answers over HTTP; a worker only whether it is well. */
  readonly app: ReturnType<typeof createApi>["app"];
  readonly facilitator: Running["facilitator"];
  readonly sources: Sources;
  readonly db: Database;
  readonly newId: NewId;
  /** Resolves when every chain can be settled on, or after a few seconds without. */
  start(): Promise<void>;
  /** Unready from now on. Resolves after the pause in which a load balancer notices; then waiting settles are answered
   *  pending, and what else is under way goes on. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** None on a sandbox: nobody balances load over a laptop. */
const DRAIN_PAUSE_MS = 5_000;
const CONNECTIONS = { requests: 12, lookups: 3, searches: 4, loops: 8 };

/** The one place that names every room. The database has been migrated. Rejects when a chain cannot be reached, or its
 *  slug or treasury not be what is configured. */
export async function compose(parts: Parts): Promise<House> {
  const { clock, random, log, meter, role } = parts;
  const url = parts.databaseUrl;
  const pool = (name: keyof typeof CONNECTIONS, over: Pick<DbOptions, "byIndex" | "bySearch"> = {}) =>
    openDatabase({ url, log, name, maxConnections: CONNECTIONS[name], role: "farebox_app", ...over });
  const db = pool("requests");
  const lookupDb = pool("lookups", { byIndex: true });
  const searchDb = pool("searches", { bySearch: true });
  const loopDb = pool("loops", { byIndex: true });
  const isSandbox = parts.chains.every(({ isLocal }) => isLocal);
  const sandbox = isSandbox && parts.sandbox ? await openSandbox(parts, parts.sandbox, loopDb) : undefined;
  // Ids carry the merchants' time, so that they sort as what merchants are told.
  const merchantClock = sandbox?.clock.clock ?? clock;
  const newId = idMaker({ clock: merchantClock, random });
  const now = () => merchantClock.now();
  const accounts = accountsOf(parts);
  const chains = await Promise.all(parts.chains.map((row) => openChain(parts, row, accounts)));
  const holder = newId("req");
  const presence = openPresence({ url, log, role: "farebox_app", name: holder });
  const engine: Engine = {
    db,
    lookupDb,
    searchDb,
    loopDb,
    chains: new Map(chains.map((open) => [open.chain.row.chainId, open])),
    clock,
    merchantClock,
    newId,
    log,
    meter,
    checkpoint: parts.checkpoint ?? (async () => {}),
    holder,
    presence,
    settings: { ...defaultSettings, ...parts.settings },
  };
  const disconnect = async () =>
    void (await Promise.all([
      ...[db, lookupDb, searchDb, loopDb].map((each) => each.close()),
      presence.close(),
    ]));
  await adoptChains(engine).catch(async (error: unknown) => {
    await disconnect();
    throw error;
  });
  const running = createFacilitator(engine, {
    hurry: () => background.hurry(),
    areCaughtUp: (merchantId) => areCaughtUp(db.pool, merchantId, now),
  });
  let isStarted = false;
  let draining = false;
  const { facilitator } = running;
  const { baseUrl, version } = parts;
  const rates = parts.rates ?? ratesOf(parts, { isSandbox });
  const agents = createMcp({
    facilitator,
    wire: paymentCodec({ facilitator, baseUrl }),
    quote: quoter({ facilitator, rates }),
    derive: intentDeriver({ db, facilitator, rates, baseUrl, isSandbox, providers: [], newId, now, log }),
    config: { baseUrl, version, allowedHosts: parts.mcpHosts, allowedOrigins: parts.mcpOrigins },
    clock,
    log,
  });
  const { app, probes, jobs, loops, hearers, drain } = createApi({
    db,
    loopDb,
    facilitator,
    agents,
    rates,
    mail: parts.mail,
    sandbox,
    clock,
    newId,
    log,
    ready: () => readiness(engine, facilitator.refusedRails(), { isStarted, draining }),
    config: {
      baseUrl,
      masterSecret: parts.masterSecret,
      allowLocalTargets: isSandbox,
      isSandbox,
      rateLimits: parts.rateLimits,
      trustedProxyHops: parts.trustedProxyHops ?? 0,
      version,
    },
  });
  const isWorking = role !== "web";
  const moneyLoops = isWorking ? loops.map((each) => looped(engine, each)) : [];
  const watches = railWatches(chains, engine);
  const told = () => {
    for (const each of moneyLoops) each.wake();
  };
  const background: Background = isWorking
    ? await openBackground(
        { ...parts, isBusy: () => running.settling() > 0, told },
        { hearers: [running.hear, ...hearers], jobs: [...jobs, ...booksJobs(loopDb)] },
      )
    : noBackground;
  return {
    app: role === "worker" ? probes : app,
    facilitator,
    db,
    newId,
    sources: {
      health: () => health(engine),
      outlook: () => outlook(engine),
      budgets: () => budgetUse(engine),
      imbalance: booksCheck({ clock, db: loopDb }),
      mail: () => mailBacklog(loopDb.pool),
      pools: () => ({
        requests: db.usage(),
        lookups: lookupDb.usage(),
        searches: searchDb.usage(),
        loops: loopDb.usage(),
      }),
    },
    ...operatorDesk(engine),
    async start() {
      sandbox?.clock.start();
      running.start({ moneyLoops: isWorking });
      for (const each of [...moneyLoops, ...watches]) each.start();
      background.start();
      await untilWorking(engine, facilitator);
      isStarted = true;
    },
    async drain() {
      draining = true;
      if (!isSandbox) await clock.sleep(DRAIN_PAUSE_MS);
      drain();
      running.drain();
    },
    async close() {
      await Promise.all([
        ...[...moneyLoops, ...watches].map((each) => each.stop()),
        background.stop(),
        agents.close(),
        sandbox?.clock.stop(),
      ]);
      await running.stop();
      await disconnect();
    },
  };
}

/** Before anything is signed or watched: both go by the treasury, and the books by the slug. */
async function adoptChains(engine: Engine): Promise<void> {
  const chains = [...engine.chains.values()];
  const refusal = await adoptSlugs(
    engine.loopDb,
    chains.map(({ chain }) => chain.row),
  );
  if (refusal !== null) throw new ConfigProblem(refusal);
  for (const { chain } of chains) {
    const problem = await adoptTreasury(engine, chain);
    if (problem !== null) throw new ConfigProblem(problem);
  }
}

async function openSandbox(parts: Parts, given: SandboxParts, db: Database): Promise<Sandbox> {
  const { clock, log, version, masterSecret } = parts;
  const { chain, providerUrl } = given;
  const fetch = createSafeFetch({ allowLocal: true, userAgent: `farebox/${version}` });
  const access = sandboxAccess(masterSecret);
  return {
    chain,
    clock: await openMovableClock({ db, clock, log }),
    provider: providerUrl === null ? null : sandboxProvider({ baseUrl: providerUrl, access, fetch }),
  };
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

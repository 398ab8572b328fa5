import { createServer, type Server } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { MailBacklog } from "#api";
import {
  type BudgetUse,
  type ChainOutlook,
  curveIsNative,
  type Meter,
  type SettlementHealth,
} from "#facilitator";

/** What the metrics are read from at each scrape. */
export interface Sources {
  readonly health: () => Promise<SettlementHealth>;
  readonly outlook: () => Promise<readonly ChainOutlook[]>;
  readonly budgets: () => Promise<readonly BudgetUse[]>;
  readonly imbalance: () => Promise<readonly { readonly asset: string; readonly difference: bigint }[]>;
  readonly mail: () => Promise<MailBacklog>;
  readonly pools: () => Readonly<
    Record<string, { readonly total: number; readonly idle: number; readonly waiting: number }>
  >;
}
interface ListenAt {
  readonly host: string;
  readonly port: number;
}
export interface Metrics {
  readonly meter: Meter;
  readonly onRpc: (chain: string) => (method: string, ok: boolean, ms: number) => void;
  /** Serves `/metrics` on this address; port 0 takes a free one. Resolves with the port. */
  listen(at: ListenAt, sources: Sources): Promise<{ readonly port: number; close(): Promise<void> }>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

export function prometheus(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = countersOf(registry);
  const registers = [registry];
  const stage = new Histogram({
    name: "farebox_stage_seconds",
    help: "Latency by stage",
    labelNames: ["stage"],
    buckets: SECONDS,
    registers,
  });
  const rpc = new Histogram({
    name: "farebox_rpc_seconds",
    help: "RPC calls",
    labelNames: ["chain", "method", "ok"],
    buckets: SECONDS,
    registers,
  });
  return {
    meter: {
      count: (name, labels = {}, by = 1) => counters[name].inc(labels, by),
      time: (name, seconds) => stage.observe({ stage: name }, seconds),
    },
    onRpc: (chain) => (method, ok, ms) => rpc.observe({ chain, method, ok: String(ok) }, ms / 1000),
    listen: (at, sources) => serve(registry, gaugesOf(registry), at, sources),
  };
}

function countersOf(registry: Registry): Record<Parameters<Meter["count"]>[0], Counter> {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `farebox_${name}_total`, help, labelNames, registers: [registry] });
  return {
    settlements: counter("settlements", "Settle calls by outcome and reason", ["outcome", "reason"]),
    verifications: counter("verifications", "Verify calls by outcome", ["outcome"]),
    batches: counter("batches", "Transactions sent", ["chain"]),
    batch_items: counter("batch_items", "Payments in them", ["chain"]),
    replacements: counter("replacements", "Stuck transactions replaced", ["chain"]),
    reversals: counter("reversals", "Credits taken back by a reorg", ["chain"]),
    unmatched: counter("unmatched", "Transfers to us that no claim accounts for", ["chain"]),
    failed_items: counter("failed_items", "Payments that a mined transaction of ours did not make", [
      "chain",
    ]),
    wasted_gas_wei: counter("wasted_gas_wei", "Gas that went into them", ["chain"]),
    gas_refusals: counter("gas_refusals", "Payments refused for a gas budget, or while their payer rests", [
      "chain",
      "budget",
    ]),
    rpc_refusals: counter(
      "rpc_refusals",
      "Looks of verify refused because calls of the endpoints are kept for settles",
      ["chain"],
    ),
    disagreements: counter("disagreements", "Answers in which endpoints contradict each other", ["chain"]),
    loop_errors: counter("loop_errors", "Failed steps", ["loop"]),
  };
}

function gaugesOf(registry: Registry) {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name: `farebox_${name}`, help, labelNames, registers: [registry] });
  return {
    openClaims: gauge("open_claims", "Claims without an end", ["state"]),
    openClaimAge: gauge("open_claim_oldest_seconds", "Age of the oldest of them", ["state"]),
    openSweeps: gauge("open_sweeps", "Sweeps of deposit addresses without an end", []),
    openSweepAge: gauge("open_sweep_oldest_seconds", "Age of the oldest of them", []),
    laneSlots: gauge("lane_open_slots", "Transactions not final", ["chain", "lane"]),
    laneActive: gauge("lane_active", "1 while the lane may sign", ["chain", "lane"]),
    laneHeld: gauge("lane_held", "1 while a process holds its lease", ["chain", "lane"]),
    laneLow: gauge("lane_low_on_gas", "1 while the lane's key needs funds", ["chain", "lane"]),
    height: gauge("chain_height", "How far the chain is followed", ["chain", "kind"]),
    lag: gauge("chain_head_lag_blocks", "Blocks between its head and what was followed", ["chain"]),
    fee: gauge("chain_fee_per_gas_wei", "What a transaction offers now, and the most that it may", [
      "chain",
      "kind",
    ]),
    runway: gauge("lane_gas_runway_seconds", "How long a lane's gas lasts at its latest pace", [
      "chain",
      "lane",
    ]),
    budgetUse: gauge("gas_budget_used", "Part of its hour's gas budget that the foremost has burned", [
      "chain",
      "budget",
    ]),
    halted: gauge("chain_halted", "1 when crediting stopped", ["chain"]),
    refused: gauge(
      "rail_refused",
      "1 where nothing is paid in a token, since its contract is not as it should be",
      ["chain", "asset"],
    ),
    differing: gauge("books_differ", "1 where the books differed from the chain when last compared", [
      "chain",
      "asset",
    ]),
    limited: gauge(
      "treasury_limited",
      "1 where something waits to leave that a day's limit has no room for",
      ["chain", "asset"],
    ),
    unapproved: gauge(
      "treasury_unapproved",
      "1 where something waits to leave until an operator approves it",
      ["chain", "asset"],
    ),
    imbalance: gauge("ledger_imbalance", "Debits less credits, and balances less their fold; 0 always", [
      "asset",
    ]),
    outbox: gauge("outbox_undelivered", "Facts not delivered yet", []),
    outboxAge: gauge("outbox_oldest_seconds", "Age of the oldest of them", []),
    outboxDead: gauge("outbox_dead", "Facts set aside: no hearer could take them", []),
    mails: gauge("mails", "Mails that wait, and mails that no server took", ["state"]),
    mailAge: gauge("mail_oldest_seconds", "How long the oldest that waits has been due", []),
    pool: gauge("database_connections", "Pool use", ["pool", "kind"]),
    database: gauge("database_up", "1 when the database answered; else what is read from it is left out", []),
    writable: gauge("database_writable", "1 when the database takes writes", []),
    curve: gauge("native_curve", "1 when signatures are recovered natively", []),
  };
}
type Gauges = ReturnType<typeof gaugesOf>;

/** One that has no labels is reset to 0, which would say that all is well. */
function leaveOut(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}

async function readGauges(
  gauges: Gauges,
  { health, outlook, budgets, imbalance, mail, pools }: Sources,
): Promise<void> {
  for (const gauge of Object.values(gauges)) leaveOut(gauge);
  gauges.database.set(0);
  gauges.curve.set(curveIsNative() ? 1 : 0);
  for (const [pool, usage] of Object.entries(pools())) {
    for (const [kind, count] of Object.entries(usage)) gauges.pool.set({ pool, kind }, count);
  }
  const { isWritable, chains, openClaims, openSweeps, ...facts } = await health();
  gauges.database.set(1);
  gauges.writable.set(isWritable ? 1 : 0);
  gauges.openSweeps.set(openSweeps.count);
  gauges.openSweepAge.set(openSweeps.oldestSeconds);
  for (const { state, count, oldestSeconds } of openClaims) {
    gauges.openClaims.set({ state }, count);
    gauges.openClaimAge.set({ state }, oldestSeconds);
  }
  for (const { chain, lanes, cursor, finalized, halted, refused, differing, limited, unapproved } of chains) {
    for (const asset of refused) gauges.refused.set({ chain, asset }, 1);
    for (const asset of differing) gauges.differing.set({ chain, asset }, 1);
    for (const asset of limited) gauges.limited.set({ chain, asset }, 1);
    for (const asset of unapproved) gauges.unapproved.set({ chain, asset }, 1);
    gauges.height.set({ chain, kind: "followed" }, cursor ?? 0);
    gauges.height.set({ chain, kind: "final" }, finalized ?? 0);
    gauges.halted.set({ chain }, halted ? 1 : 0);
    for (const { address: lane, state, isConfigured, held, openSlots, isLowOnGas } of lanes) {
      gauges.laneSlots.set({ chain, lane }, openSlots);
      if (!isConfigured) continue;
      gauges.laneActive.set({ chain, lane }, state === "active" ? 1 : 0);
      gauges.laneLow.set({ chain, lane }, isLowOnGas ? 1 : 0);
      gauges.laneHeld.set({ chain, lane }, held ? 1 : 0);
    }
  }
  gauges.outbox.set(facts.undeliveredFacts);
  gauges.outboxAge.set(facts.oldestFactSeconds);
  gauges.outboxDead.set(facts.deadFacts);
  const { queued, failed, oldestSeconds } = await mail();
  gauges.mails.set({ state: "queued" }, queued);
  gauges.mails.set({ state: "failed" }, failed);
  gauges.mailAge.set(oldestSeconds);
  const followed = new Map(chains.map(({ chain, cursor }) => [chain, cursor]));
  for (const seen of await outlook()) setOutlook(gauges, seen, followed.get(seen.chain) ?? null);
  for (const { chain, budget, share } of await budgets()) gauges.budgetUse.set({ chain, budget }, share);
  // A gauge is a float; that it differs from zero is all it tells, the amount itself is in the trial balance.
  for (const { asset, difference } of await imbalance())
    gauges.imbalance.set({ asset }, difference === 0n ? 0 : 1);
}

function setOutlook(
  gauges: Gauges,
  { chain, head, feePerGas, feeCap, lanes }: ChainOutlook,
  followed: number | null,
): void {
  if (head !== null && followed !== null) gauges.lag.set({ chain }, Math.max(0, head - followed));
  if (feePerGas !== null) gauges.fee.set({ chain, kind: "now" }, Number(feePerGas));
  gauges.fee.set({ chain, kind: "cap" }, Number(feeCap));
  for (const { address: lane, runwaySeconds } of lanes)
    if (runwaySeconds !== null) gauges.runway.set({ chain, lane }, runwaySeconds);
}

async function serve(registry: Registry, gauges: Gauges, at: ListenAt, sources: Sources) {
  const read = () => readGauges(gauges, sources).catch(() => {});
  let reading: Promise<string> | undefined;
  // Who asks meanwhile is told the same: another reading would leave out what this one has just set.
  const scrape = () => {
    reading ??= read()
      .then(() => registry.metrics())
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const server = createServer((request, response) => {
    if (request.url?.split("?")[0] !== "/metrics") return void response.writeHead(404).end();
    scrape()
      .then((text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text))
      .catch(() => response.writeHead(500).end());
  });
  await listening(server, at);
  const bound = server.address();
  return {
    port: bound && typeof bound === "object" ? bound.port : at.port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

function listening(server: Server, { host, port }: ListenAt): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
}

import { createServer, type Server } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { curveIsNative, type Meter, type SettlementHealth } from "#facilitator";

/** What the metrics are read from at each scrape. */
export interface Sources {
  readonly health: () => Promise<SettlementHealth>;
  readonly imbalance: () => Promise<readonly { readonly asset: string; readonly difference: bigint }[]>;
  readonly pools: () => Readonly<
    Record<string, { readonly total: number; readonly idle: number; readonly waiting: number }>
  >;
}
export interface Metrics {
  readonly meter: Meter;
  readonly onRpc: (chain: string) => (method: string, ok: boolean, ms: number) => void;
  /** Serves `/metrics` on loopback only; 0 takes a free port. Resolves with the port. */
  listen(port: number, sources: Sources): Promise<{ readonly port: number; close(): Promise<void> }>;
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
    listen: (port, sources) => serve(registry, gaugesOf(registry), port, sources),
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
    height: gauge("chain_height", "How far the chain is followed", ["chain", "kind"]),
    halted: gauge("chain_halted", "1 when crediting stopped", ["chain"]),
    differing: gauge("books_differ", "1 where the books differed from the chain when last compared", [
      "chain",
      "asset",
    ]),
    imbalance: gauge("ledger_imbalance", "Debits less credits, and balances less their fold; 0 always", [
      "asset",
    ]),
    outbox: gauge("outbox_undelivered", "Facts not delivered yet", []),
    pool: gauge("database_connections", "Pool use", ["pool", "kind"]),
    curve: gauge("native_curve", "1 when signatures are recovered natively", []),
  };
}
type Gauges = ReturnType<typeof gaugesOf>;

async function readGauges(gauges: Gauges, { health, imbalance, pools }: Sources): Promise<void> {
  for (const gauge of Object.values(gauges)) gauge.reset();
  gauges.curve.set(curveIsNative() ? 1 : 0);
  for (const [pool, usage] of Object.entries(pools())) {
    for (const [kind, count] of Object.entries(usage)) gauges.pool.set({ pool, kind }, count);
  }
  const { chains, openClaims, openSweeps, undeliveredFacts } = await health();
  gauges.openSweeps.set(openSweeps.count);
  gauges.openSweepAge.set(openSweeps.oldestSeconds);
  for (const { state, count, oldestSeconds } of openClaims) {
    gauges.openClaims.set({ state }, count);
    gauges.openClaimAge.set({ state }, oldestSeconds);
  }
  for (const { chain, lanes, cursor, finalized, halted, differing } of chains) {
    for (const asset of differing) gauges.differing.set({ chain, asset }, 1);
    gauges.height.set({ chain, kind: "followed" }, cursor ?? 0);
    gauges.height.set({ chain, kind: "final" }, finalized ?? 0);
    gauges.halted.set({ chain }, halted ? 1 : 0);
    for (const { address: lane, state, held, openSlots } of lanes) {
      gauges.laneSlots.set({ chain, lane }, openSlots);
      gauges.laneActive.set({ chain, lane }, state === "active" ? 1 : 0);
      gauges.laneHeld.set({ chain, lane }, held ? 1 : 0);
    }
  }
  gauges.outbox.set(undeliveredFacts);
  // A gauge is a float; that it differs from zero is all it tells, the amount itself is in the trial balance.
  for (const { asset, difference } of await imbalance())
    gauges.imbalance.set({ asset }, difference === 0n ? 0 : 1);
}

async function serve(registry: Registry, gauges: Gauges, port: number, sources: Sources) {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    readGauges(gauges, sources)
      .catch(() => {})
      .then(() => registry.metrics())
      .then((text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text))
      .catch(() => response.writeHead(500).end());
  });
  await listening(server, port);
  const bound = server.address();
  return {
    port: bound && typeof bound === "object" ? bound.port : port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}

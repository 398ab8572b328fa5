import { createServer, isIPv6 } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileMailer, smtpMailer } from "#api";
import { curveIsNative } from "#facilitator";
import { Fault } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { systemClock, systemRandom } from "#kernel/system";
import { migrate, sqlState } from "#store";
import { compose, type House, type Parts, type SandboxParts } from "./compose.ts";
import { type Config, ConfigProblem, readConfig } from "./config.ts";
import { databaseProblem } from "./database-problem.ts";
import { announce, type LocalParts, startLocalParts } from "./dev/local.ts";
import { sandboxChain } from "./dev/sandbox-chain.ts";
import { pinoLog } from "./log.ts";
import { prometheus } from "./metrics.ts";
import { serve } from "./serve.ts";
import { version } from "./version.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const HARD_EXIT_MS = 25_000;
const say = (line: string) => void process.stdout.write(`${line}\n`);

let log = pinoLog("info");
/** What was started, in the order in which it must be stopped: last started, first stopped. */
const stops: (() => Promise<void>)[] = [];

const stopping = new AbortController();

async function main(): Promise<void> {
  const config = readConfig(process.env);
  log = pinoLog(config.logLevel);
  for (const warning of config.warnings) log.warn({}, warning);
  // Asked before anything is started: a second service must not take over, and then stop, what the first one uses.
  await portIsFree("PORT", config.port);
  if (config.metricsPort !== 0) await portIsFree("METRICS_PORT", config.metricsPort);
  const { signal } = stopping;
  const local = config.outside ? null : await startLocalParts({ ...config, say, signal });
  if (local) stops.push(local.stop);
  const given = config.outside ?? local;
  if (!given)
    throw new ConfigProblem(
      "Neither a local deployment nor outside parts: set DATABASE_URL and FAREBOX_CHAINS.",
    );
  if (!curveIsNative())
    log.warn(
      {},
      "the native secp256k1 part is missing: signatures are checked in slow JavaScript; reinstall with its prebuilt binary",
    );
  signal.throwIfAborted();
  await migrateOrExplain(given.databaseUrl);
  signal.throwIfAborted();
  const metrics = prometheus();
  const house = await composeOrExplain({
    ...given,
    role: config.role,
    baseUrl: config.baseUrl,
    rateLimits: config.rateLimits,
    trustedProxyHops: config.trustedProxyHops,
    mcpHosts: config.mcpHosts,
    mcpOrigins: config.mcpOrigins,
    mail: {
      from: config.mailFrom,
      mailer: config.smtpUrl === null ? fileMailer(mailFolder(config)) : smtpMailer(config.smtpUrl),
    },
    version,
    clock: systemClock,
    random: systemRandom,
    log,
    meter: metrics.meter,
    onRpc: metrics.onRpc,
    sandbox: local?.sandbox ?? outsideSandbox(given),
  });
  stops.push(() => house.close());
  signal.throwIfAborted();
  const metricsAt = { host: config.metricsHost, port: config.metricsPort };
  const internal = await metrics.listen(metricsAt, house.sources).catch(explainPort("METRICS_PORT"));
  stops.push(internal.close);
  await house.start();
  const listening = await serve(house, config.port).catch(explainPort("PORT"));
  stops.push(async () => {
    await house.drain();
    await listening.close();
  });
  signal.throwIfAborted();
  await tell(config, house, local, internal.port);
}

const mailFolder = ({ dataDir }: Config) => join(dataDir, "mail");

/** A sandbox on a chain that somebody else runs: its payer is found where the local deployment would have put him. */
function outsideSandbox({
  chains,
  masterSecret,
}: Pick<Parts, "chains" | "masterSecret">): SandboxParts | undefined {
  const [chain] = chains;
  const [rpcUrl] = chain?.rpcUrls ?? [];
  return chain === undefined || rpcUrl === undefined
    ? undefined
    : { chain: sandboxChain({ slug: chain.slug, rpcUrl, masterSecret }), providerUrl: null };
}

async function tell(
  config: Config,
  house: House,
  local: LocalParts | null,
  metricsPort: number,
): Promise<void> {
  if (local) {
    const operator = { db: house.db, clock: systemClock, newId: house.newId, random: systemRandom };
    const keys = await announce(local, operator, { dataDir: config.dataDir, baseUrl: config.baseUrl });
    say(`Chain        ${local.rpcUrl} (eip155:31337), treasury ${local.contracts.treasury.address}`);
    say(`Database     ${local.databaseUrl}`);
    say(`Secret key   ${keys.secretKey}`);
    say(`Dashboard    ${config.baseUrl}/dashboard (sign in with the secret key)`);
    say(`Everything   ${config.dataDir}/dev.json`);
  }
  if (config.smtpUrl === null) say(`Mail         files in ${mailFolder(config)} (no SMTP_URL)`);
  const host = isIPv6(config.metricsHost) ? `[${config.metricsHost}]` : config.metricsHost;
  say(`Metrics      http://${host}:${metricsPort}/metrics`);
  say(`Farebox ${version} is ready at ${config.baseUrl} (role ${config.role}). Ctrl-C stops it.`);
}

async function migrateOrExplain(url: string): Promise<void> {
  try {
    await migrate({ url, folder: MIGRATIONS, log });
  } catch (error) {
    throw databaseProblem(error);
  }
}

/** Rejects with what to set when a chain or the database cannot be used; the endpoints' hosts are named, their keys are not. */
async function composeOrExplain(parts: Parts): Promise<House> {
  try {
    return await compose(parts);
  } catch (error) {
    if (sqlState(error) !== null) throw databaseProblem(error);
    if (!(error instanceof Fault) || error.code !== "chain_unavailable") throw error;
    const why = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    throw new ConfigProblem(
      `The chain ${error.context.chain} does not answer${why}. Set its rpcUrls in FAREBOX_CHAINS to endpoints that can be reached.`,
    );
  }
}

function portIsFree(name: PortName, port: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(port, () => probe.close(() => resolve()));
  }).catch(explainPort(name));
}

type PortName = "PORT" | "METRICS_PORT";

const explainPort =
  (name: PortName) =>
  (error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }): never => {
    if (error.syscall !== "listen") throw error;
    if (error.code === "EADDRNOTAVAIL")
      throw new ConfigProblem(
        `METRICS_HOST ${error.address} is no address of this machine. Set one that is, or 0.0.0.0 for all of them.`,
      );
    if (error.code !== "EADDRINUSE")
      throw new ConfigProblem(
        `${name} ${error.port} cannot be used (${error.code}). Set ${name} to another port.`,
      );
    throw new ConfigProblem(
      `Port ${error.port} is taken. Stop what listens there, or set ${name} to another one.`,
    );
  };

/** Ends what was started, last first; what is being started is waited for, so that it can be ended as well. A second
 *  signal changes nothing. */
async function stop(code: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  setTimeout(() => process.exit(code || 1), HARD_EXIT_MS).unref();
  await starting.catch(() => undefined); // told where it is thrown
  for (const each of stops.reverse()) {
    await each().catch((error) => log.error(errorFields(error), "a part did not stop cleanly"));
  }
  process.exit(code);
}

const diesOf = (what: string) => (error: unknown) => {
  log.error(errorFields(error), `${what}: the process ends, and the next one goes on from the rows`);
  void stop(1);
};
process.on("SIGINT", () => void stop(0));
process.on("SIGTERM", () => void stop(0));
process.stdout.on("error", () => {}); // who started the service may read no more of what it says
process.on("uncaughtException", diesOf("uncaught error"));
process.on("unhandledRejection", diesOf("unhandled rejection"));

const starting = main();
starting.catch((error: unknown) => {
  if (stopping.signal.aborted) return;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  void stop(1);
});

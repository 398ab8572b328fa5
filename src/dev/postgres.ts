/** The embedded PostgreSQL: one cluster in the data folder, in a session of its own (DESIGN §5 "Embedded parts"). */
import { randomUUID } from "node:crypto";
import { chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Place, placeData } from "./data-place.ts";
import { freePort } from "./free-port.ts";
import { storedSecret } from "./master-secret.ts";
import { type PostgresPrograms, postgresPrograms, programsIn } from "./postgres-programs.ts";
import { type Postmaster, runningPostmaster } from "./postmaster.ts";
import { gone, run } from "./processes.ts";

export interface PostgresOptions {
  readonly dataDir: string;
  readonly say: (line: string) => void;
  /** Where it listens at a Unix socket, too; it must be able to write there. */
  readonly socketDir?: string;
  /** A folder with the programs of a PostgreSQL 17 or newer; those from npm unless told otherwise. */
  readonly bin?: string | undefined;
  /** Its configuration, where it is not the usual one. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Ends the making of the cluster, and nothing of it is left: on a busy machine it takes longer than a stop may. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres {
  /** Superuser `farebox`, database `farebox`, loopback only. */
  readonly url: string;
  /** True when a server of an earlier run was found and taken over. */
  readonly adopted: boolean;
  readonly pid: number;
  stop(): Promise<void>;
}

const startAttempts = 5;
/** After a kill it replays its log before it answers: after much work, up to four gigabytes. */
const startSeconds = "120";

/** Starts the data folder's PostgreSQL, or takes over the one that still runs; makes the cluster at the first start. */
export async function startPostgres({
  dataDir,
  say,
  socketDir = "",
  bin,
  settings = {},
  signal,
}: PostgresOptions): Promise<EmbeddedPostgres> {
  const place = await placeData(dataDir, "postgres");
  const programs = bin ? programsIn(bin) : await postgresPrograms(place.user, dataDir);
  const password = await storedSecret(dataDir, "postgres-password");
  const cluster = clusterOf(place);
  const running = await runningPostmaster(cluster);
  if (!running) await makeCluster({ place, programs, password, say, signal });
  const server =
    running ?? (await startServer(place, programs, { unix_socket_directories: socketDir, ...settings }));
  return {
    url: `postgres://farebox:${password}@127.0.0.1:${server.port}/farebox`,
    adopted: running !== undefined,
    pid: server.pid,
    stop: () => stopServer(place, programs, say),
  };
}

/** Stops whatever server runs on the place, for the reset. */
export async function stopPostgresAt(
  place: Place,
  dataDir: string,
  say: (line: string) => void,
): Promise<void> {
  if (!(await runningPostmaster(clusterOf(place)))) return;
  await stopServer(place, await postgresPrograms(place.user, dataDir), say);
}

function clusterOf(place: Place): string {
  return join(place.dir, "data");
}

interface Making {
  readonly place: Place;
  readonly programs: PostgresPrograms;
  readonly password: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Made aside with its database in it and renamed, so that a kill in between leaves no half cluster. */
async function makeCluster(making: Making): Promise<void> {
  const { place, say } = making;
  const entries = await readdir(place.dir);
  if (entries.includes("data")) return;
  for (const name of entries)
    if (name.startsWith("new-")) await rm(join(place.dir, name), { recursive: true });
  say("making the PostgreSQL database");
  const aside = join(place.dir, `new-${randomUUID()}`);
  try {
    await mkdir(aside, { mode: 0o700 });
    await give(aside, place);
    await initialise(join(aside, "data"), aside, making);
    await rename(join(aside, "data"), clusterOf(place));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function initialise(cluster: string, aside: string, making: Making): Promise<void> {
  const { programs, password, place } = making;
  const passwordFile = join(aside, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  await give(passwordFile, place);
  // encoding and locale are named: an environment without a locale would give SQL_ASCII
  const locale = ["-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const access = ["-U", "farebox", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  await logged(making, programs.initdb, ["-D", cluster, ...locale, ...access]);
  const create = "CREATE DATABASE farebox\n";
  await logged(making, programs.postgres, ["--single", "-D", cluster, "postgres"], create);
}

async function give(path: string, { user }: Place): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
}

async function logged(
  { place, signal }: Making,
  file: string,
  args: string[],
  input?: string,
): Promise<void> {
  const path = join(place.dir, "setup.log");
  const log = await open(path, "a");
  try {
    const stdin = input === undefined ? "ignore" : "pipe";
    const program = { file, args, user: place.user, cwd: place.dir };
    const code = await run({ ...program, stdio: [stdin, log.fd, log.fd] }, { input, until: signal });
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`${file} ended with ${code}:\n${await tail(path)}`);
  } finally {
    await log.close();
  }
}

/** Tries again with another port: the free one may be taken meanwhile, and an old server's memory may be in use still. */
async function startServer(
  place: Place,
  programs: PostgresPrograms,
  settings: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  await rm(join(clusterOf(place), "postmaster.pid"), { force: true }); // stale: nothing runs on the cluster
  for (let attempt = 1; attempt <= startAttempts; attempt += 1) {
    const all = { ...usual(), ...settings, port: `${await freePort()}` };
    const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
    const log = join(place.dir, "server.log");
    const args = ["start", "-w", "-t", startSeconds, "-l", log, "-o", options.join(" ")];
    const code = await pgCtl(place, programs, args);
    const server = code === 0 ? await runningPostmaster(clusterOf(place)) : undefined;
    if (server) return server;
    await sleep(500);
  }
  throw new Error(`PostgreSQL does not start:\n${await tail(join(place.dir, "server.log"))}`);
}

const usual = () => ({
  listen_addresses: "127.0.0.1",
  max_connections: "200",
  autovacuum_naptime: "10s",
  shared_buffers: `${sharedMegabytes()}MB`,
  // Beside many old rows a settle writes a hundred kilobytes of log, and the usual gigabyte is half full within seconds:
  // then all that was changed is written, and goes whole into the log again. Nothing takes the room while little is done.
  max_wal_size: "4GB",
});

/** PostgreSQL's own 128 MB hold the indexes of some tens of thousands of payments; a quarter of the memory is what it
 *  advises, and it takes no more of it than it touches. A container may have less than the machine. */
function sharedMegabytes(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY); // 0: no limit is known
  return Math.max(128, Math.min(1024, Math.floor(memory / 4 / 2 ** 20)));
}

async function stopServer(
  place: Place,
  programs: PostgresPrograms,
  say: (line: string) => void,
): Promise<void> {
  const server = await runningPostmaster(clusterOf(place));
  if (!server) return;
  if ((await pgCtl(place, programs, ["stop", "-m", "fast", "-w", "-t", "6"])) === 0) return;
  say("PostgreSQL does not end by itself, stopping it at once");
  await pgCtl(place, programs, ["stop", "-m", "immediate", "-w", "-t", "3"]);
  if (!(await gone(server.pid, 1000))) throw new Error(`PostgreSQL ${server.pid} does not end`);
}

/** stdio is ignored because the server inherits it, and would hold our pipes open. */
function pgCtl(place: Place, programs: PostgresPrograms, args: string[]): Promise<number> {
  const program = { file: programs.pgCtl, args: [...args, "-D", clusterOf(place)], user: place.user };
  return run({ ...program, cwd: place.dir, stdio: "ignore" });
}

async function tail(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-10).join("\n");
}

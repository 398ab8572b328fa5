/** The local chain: a real EVM node in a session of its own, its state kept whole (DESIGN §5 "Embedded parts"). */
import type { ChildProcess } from "node:child_process";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { anvilProgram } from "./anvil-program.ts";
import {
  answersAs,
  type ChainRecord,
  isNodeOf,
  readRecord,
  removeRecord,
  writeRecord,
} from "./chain-record.ts";
import { keepSaved } from "./chain-saver.ts";
import { exists, type Place, placeData } from "./data-place.ts";
import { freePort } from "./free-port.ts";
import { end, start } from "./processes.ts";
import { blockAt, rpc } from "./rpc.ts";

export interface ChainOptions {
  readonly dataDir: string;
  readonly say: (line: string) => void;
  /** Default 31337. */
  readonly chainId?: number;
  /** Default 1. */
  readonly blockTimeSeconds?: number;
}

export interface LocalChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** True when a node of an earlier run was found and taken over. */
  readonly adopted: boolean;
  readonly pid: number;
  stop(): Promise<void>;
}

const startAttempts = 5;
/** A long chain takes a while to load. */
const readyWithinMs = 60_000;
/** Of the ten seconds that a stop may take. */
const lastSaveMs = 6000;

/** Starts the data folder's chain where it was saved, or takes over the node that still runs. */
export async function startChain({
  dataDir,
  say,
  chainId = 31337,
  blockTimeSeconds = 1,
}: ChainOptions): Promise<LocalChain> {
  const wanted = { chainId, blockTimeSeconds };
  const place = await placeData(dataDir, "chain");
  const running = await takeOver(dataDir, wanted);
  const record = running ?? (await startNode(dataDir, place, wanted));
  const rpcUrl = urlOf(record);
  const file = stateFile(place, chainId);
  const saver = await keepSaved({
    rpcUrl,
    file,
    say,
    saved: (block) => writeRecord(dataDir, { ...record, block }),
  });
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    try {
      await within(lastSaveMs, async () => {
        await rpc(rpcUrl, "anvil_setIntervalMining", [0]); // no block after the last save
        await saver.finish();
      });
    } catch (error) {
      say(`the local chain ended without a last save: ${String(error)}`);
    }
    await end(record.pid, 2000);
    await removeRecord(dataDir);
  };
  return {
    rpcUrl,
    chainId,
    adopted: running !== undefined,
    pid: record.pid,
    stop: () => {
      stopped ??= stop(); // a second call joins the first
      return stopped;
    },
  };
}

/** Ends the recorded node, if it is one of ours, for the reset. */
export async function stopRecordedChain(dataDir: string): Promise<void> {
  const record = await readRecord(dataDir);
  if (record && (await isNodeOf(record))) await end(record.pid);
  await removeRecord(dataDir);
}

type Wanted = Pick<ChainRecord, "chainId" | "blockTimeSeconds">;

/** The recorded node when it is the wanted one; a node of ours that is not is ended, so that it is not doubled. */
async function takeOver(dataDir: string, wanted: Wanted): Promise<ChainRecord | undefined> {
  const record = await readRecord(dataDir);
  if (!record || !(await isNodeOf(record))) return undefined;
  const same = record.chainId === wanted.chainId && record.blockTimeSeconds === wanted.blockTimeSeconds;
  if (same && (await answersAs(record))) {
    await rpc(urlOf(record), "anvil_setIntervalMining", [wanted.blockTimeSeconds]); // killed while stopping
    return record;
  }
  await end(record.pid);
  return undefined;
}

async function startNode(dataDir: string, place: Place, wanted: Wanted): Promise<ChainRecord> {
  const program = await anvilProgram(place.user, dataDir);
  await rm(join(place.dir, ".foundry"), { recursive: true, force: true }); // spilled history of a killed node
  const log = join(place.dir, "node.log");
  for (let attempt = 1; attempt <= startAttempts; attempt += 1) {
    const port = await freePort();
    const child = await launch(program, place, { ...wanted, port }, log);
    if (child.pid === undefined) throw new Error(`${program} does not start`);
    const record = { ...wanted, port, pid: child.pid, block: null };
    await writeRecord(dataDir, record);
    if (await ready(child, urlOf(record))) return record;
    await end(record.pid);
  }
  throw new Error(`the local chain does not start:\n${(await readFile(log, "utf8")).trimEnd().slice(-2000)}`);
}

async function launch(
  file: string,
  place: Place,
  wanted: Wanted & { port: number },
  log: string,
): Promise<ChildProcess> {
  const state = stateFile(place, wanted.chainId);
  const args = ["--port", String(wanted.port), "--host", "127.0.0.1", "--chain-id", String(wanted.chainId)];
  args.push(
    "--block-time",
    String(wanted.blockTimeSeconds),
    "--slots-in-an-epoch",
    "1",
    "--gas-limit",
    "200000000",
  );
  args.push("--quiet");
  if (await exists(state)) args.push("--load-state", state);
  const output = await open(log, "w");
  try {
    const { user, dir: cwd } = place;
    const child = start({ file, args, user, cwd, stdio: ["ignore", output.fd, output.fd] });
    child.on("error", () => undefined); // has no pid then, which the caller sees
    child.unref();
    return child;
  } finally {
    await output.close();
  }
}

/** False when the process ended first, as it does when its port was taken or its state cannot be read. */
async function ready(child: ChildProcess, url: string): Promise<boolean> {
  const deadline = performance.now() + readyWithinMs;
  while (child.exitCode === null && child.signalCode === null) {
    if (await blockAt(url, "latest").catch(() => undefined)) return true;
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return false;
}

/** Goes on after `ms`, whatever the work waits for: a node that hangs must not hold up the stop. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const limit = sleep(ms, undefined, { signal: done.signal }).then(() => {
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    await Promise.race([work(), limit]);
  } finally {
    done.abort();
    limit.catch(() => undefined); // the aborted timer
  }
}

function stateFile(place: Place, chainId: number): string {
  return join(place.dir, `state-${chainId}.json`);
}

function urlOf({ port }: { port: number }): string {
  return `http://127.0.0.1:${port}`;
}

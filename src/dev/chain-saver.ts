/** Keeps the local chain's state on disk. The node's own state file is written in place and can be torn by a kill, so
 *  the state is fetched, unzipped and written whole (reference/parts.md). */
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { writeAtomic } from "./atomic-file.ts";
import { type Block, blockAt, rpc } from "./rpc.ts";

const lookEveryMs = 1000;
const idleSaveMs = 60_000;
/** Writing takes longer the longer the chain is: at most a fifth of the time goes into it. */
const pauseFactor = 5;
const blocksToInspect = 50;
const pieceBytes = 256 * 1024;

export interface SaverOptions {
  readonly rpcUrl: string;
  readonly file: string;
  readonly say: (line: string) => void;
  /** Called after each save with a block of what was saved. */
  readonly saved: (block: Block) => Promise<void>;
}

export interface ChainSaver {
  /** Ends the loop and saves a last time. */
  finish(): Promise<void>;
}

/** Saves now, then after blocks with transactions or a reorganisation, and at least once a minute. */
export async function keepSaved(options: SaverOptions): Promise<ChainSaver> {
  const ending = new AbortController();
  const first = await save(options);
  const loop = saveLoop(options, first, ending.signal);
  return {
    async finish() {
      ending.abort();
      await loop;
      await save(options);
    },
  };
}

async function saveLoop(options: SaverOptions, first: Block, signal: AbortSignal): Promise<void> {
  let seen = first;
  let savedAt = performance.now();
  let pauseMs = 0;
  let changed = false;
  let failing = false;
  while (await pause(lookEveryMs, signal)) {
    try {
      const look = await lookAtChain(options.rpcUrl, seen);
      changed ||= look.changed;
      seen = look.tip;
      const age = performance.now() - savedAt;
      if (age < (changed ? pauseMs : idleSaveMs)) continue;
      const began = performance.now();
      seen = await save(options);
      savedAt = performance.now();
      pauseMs = (savedAt - began) * pauseFactor;
      changed = false;
      failing = false;
    } catch (error) {
      if (!failing) options.say(`the local chain's state cannot be saved: ${String(error)}`);
      failing = true; // said once, tried again every second
    }
  }
}

/** False when the signal ended it. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** Whether anything but empty blocks came since `seen`. */
async function lookAtChain(url: string, seen: Block): Promise<{ tip: Block; changed: boolean }> {
  const tip = await tipOf(url);
  if (tip.number - seen.number > blocksToInspect) return { tip, changed: true };
  if ((await blockAt(url, seen.number))?.hash !== seen.hash) return { tip, changed: true };
  for (let number = seen.number + 1; number <= tip.number; number += 1) {
    const count = await rpc<string | null>(url, "eth_getBlockTransactionCountByNumber", [
      `0x${number.toString(16)}`,
    ]);
    if (Number(count) !== 0) return { tip, changed: true };
  }
  return { tip, changed: false };
}

/** The tip is read before the state: blocks in between are in the file and looked at once more. */
async function save({ rpcUrl, file, saved }: SaverOptions): Promise<Block> {
  const tip = await tipOf(rpcUrl);
  const zipped = await rpc<string>(rpcUrl, "anvil_dumpState", [], 20_000);
  await writeAtomic(file, unzipped(zipped));
  await saved(tip);
  return tip;
}

/** Piece by piece: a long chain's state is ten times what comes zipped, and this process serves meanwhile. */
async function* unzipped(zipped: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  gunzip.end(Buffer.from(zipped.slice(2), "hex"));
  yield* gunzip;
}

async function tipOf(url: string): Promise<Block> {
  const tip = await blockAt(url, "latest");
  if (!tip) throw new Error("the local chain has no blocks");
  return tip;
}

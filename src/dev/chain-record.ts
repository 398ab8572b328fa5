/** `chain.json` in the data folder: which node runs for it, so that the next start can find it. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomic } from "./atomic-file.ts";
import { commandLine, isAlive } from "./processes.ts";
import { blockAt, rpc } from "./rpc.ts";

const ChainRecord = z.object({
  pid: z.int().positive(),
  port: z.int().positive(),
  chainId: z.int().positive(),
  blockTimeSeconds: z.number().positive(),
  /** A block of this very chain; null until the node answered once. */
  block: z.object({ number: z.int(), hash: z.string() }).nullable(),
});
export type ChainRecord = z.infer<typeof ChainRecord>;

export async function readRecord(dataDir: string): Promise<ChainRecord | undefined> {
  const text = await readFile(recordPath(dataDir), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return ChainRecord.parse(JSON.parse(text));
  } catch {
    return undefined; // not ours, or of another version: as good as none
  }
}

export function writeRecord(dataDir: string, record: ChainRecord): Promise<void> {
  return writeAtomic(recordPath(dataDir), `${JSON.stringify(record)}\n`);
}

export function removeRecord(dataDir: string): Promise<void> {
  return rm(recordPath(dataDir), { force: true });
}

/** Whether the recorded process is still our node: a pid alone may be anybody's by now. */
export async function isNodeOf({ pid, port }: ChainRecord): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  const line = await commandLine(pid);
  return line === undefined || (line.includes("anvil") && line.includes(`--port ${port} `));
}

/** Whether the node answers with the recorded chain. */
export async function answersAs({ port, chainId, block }: ChainRecord): Promise<boolean> {
  const url = `http://127.0.0.1:${port}`;
  if (!block) return false;
  try {
    if (Number(await rpc<string>(url, "eth_chainId")) !== chainId) return false;
    return (await blockAt(url, block.number))?.hash === block.hash;
  } catch {
    return false; // silent or hung: not a node to go on with
  }
}

function recordPath(dataDir: string): string {
  return join(dataDir, "chain.json");
}

/** The local chain as `npm start` runs it, except that its state is not saved: dumping it after every block would take
 *  the processor from what is measured. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { anvilProgram } from "../src/dev/anvil-program.ts";
import { placeData } from "../src/dev/data-place.ts";
import { freePort } from "../src/dev/free-port.ts";
import { end, isAlive, start } from "../src/dev/processes.ts";
import { blockAt } from "../src/dev/rpc.ts";

export interface BenchChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const chainId = 31337;
const readyWithinMs = 20_000;

export async function startBenchChain(dataDir: string, blockTimeSeconds: number): Promise<BenchChain> {
  const { user, dir: cwd } = await placeData(dataDir, "chain");
  const file = await anvilProgram(user, dataDir);
  const port = await freePort();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const where = ["--host", "127.0.0.1", "--port", String(port), "--quiet"];
  const chain = ["--chain-id", String(chainId), "--block-time", String(blockTimeSeconds)];
  const blocks = ["--slots-in-an-epoch", "1", "--gas-limit", "200000000"];
  const log = await open(join(cwd, "node.log"), "w");
  const args = [...where, ...chain, ...blocks];
  const child = start({ file, args, user, cwd, stdio: ["ignore", log.fd, log.fd] });
  child.on("error", () => undefined); // has no pid then
  await log.close();
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} does not start`);
  const deadline = performance.now() + readyWithinMs;
  while (!(await blockAt(rpcUrl, "latest").catch(() => undefined))) {
    if (!(await isAlive(pid)) || performance.now() > deadline) {
      await end(pid, 2000);
      throw new Error("the chain does not start");
    }
    await sleep(50);
  }
  return { rpcUrl, chainId, pid, stop: () => end(pid, 2000) };
}

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChain } from "../../../src/dev/chain.ts";
import { startPostgres } from "../../../src/dev/postgres.ts";
import { gone, isAlive } from "../../../src/dev/processes.ts";
import { dataFolder, say } from "./support.ts";

function startService(dataDir: string): ChildProcess {
  const script = join(import.meta.dirname, "start-both.ts");
  return spawn(process.execPath, ["--import", "tsx", script, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The line the service says when both parts run. */
async function pidsOf(service: ChildProcess): Promise<{ postgres: number; chain: number }> {
  for await (const line of service.stdout ?? []) return JSON.parse(String(line));
  throw new Error("the service ended");
}

describe("a service that was killed", () => {
  it("leaves its parts running; the next start takes them over and stops them", async () => {
    // given a service killed with -9
    const dataDir = await dataFolder();
    const service = startService(dataDir);
    const pids = await pidsOf(service);
    service.kill("SIGKILL");
    await gone(service.pid ?? 0, 5000);
    // when the parts are started again
    const postgres = await startPostgres({ dataDir, say });
    const chain = await startChain({ dataDir, say });
    // then they are the same processes
    expect({ postgres: postgres.pid, chain: chain.pid }).toEqual(pids);
    expect({ postgres: postgres.adopted, chain: chain.adopted }).toEqual({ postgres: true, chain: true });
    // and stopping ends them
    await chain.stop();
    await postgres.stop();
    expect([await isAlive(pids.postgres), await isAlive(pids.chain)]).toEqual([false, false]);
  });
});

/** What servers under test stand on: PostgreSQL, a chain with its contracts, and a folder for their files. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { twins } from "../src/dev/data-place.ts";
import { deployDevContracts } from "../src/dev/deploy.ts";
import { masterSecret } from "../src/dev/master-secret.ts";
import { startPostgres } from "../src/dev/postgres.ts";
import { startBenchChain } from "./chain.ts";
import type { Neighbours } from "./measure.ts";
import type { Ground } from "./subject.ts";

interface Laying {
  readonly blockTimeSeconds: number;
  readonly say: (line: string) => void;
  /** Gets what ends the parts; to be called last first. */
  readonly stops: (() => Promise<void>)[];
}

export async function layGround({
  blockTimeSeconds,
  say,
  stops,
}: Laying): Promise<{ readonly ground: Ground; readonly near: Neighbours }> {
  const dataDir = await mkdtemp(join(tmpdir(), "farebox-bench-"));
  stops.push(async () => {
    for (const dir of [...(await twins(dataDir)), dataDir]) await rm(dir, { recursive: true, force: true });
  });
  await chmod(dataDir, 0o755); // or a part that runs as another user cannot work in it
  const postgres = await startPostgres({ dataDir, say });
  stops.push(postgres.stop);
  const chain = await startBenchChain(dataDir, blockTimeSeconds);
  stops.push(chain.stop);
  const { rpcUrl, chainId } = chain;
  const secret = await masterSecret(dataDir);
  const contracts = await deployDevContracts({ rpcUrl, masterSecret: secret, blockTimeSeconds });
  const parts = { dataDir, rpcUrl, chainId, blockTimeSeconds, contracts };
  return {
    ground: { ...parts, databaseUrl: postgres.url, masterSecret: secret },
    near: { rpcUrl, chainPid: chain.pid, postgresPid: postgres.pid },
  };
}

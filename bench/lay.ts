/** What a benchmark of the service stands on: a PostgreSQL and a chain of its own, with the dev contracts. */
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

export interface Laid {
  readonly ground: Ground;
  readonly near: Neighbours;
  stop(): Promise<void>;
}

export interface LayOptions {
  readonly say?: (line: string) => void;
  readonly blockTimeSeconds?: number;
  /** As `startPostgres` takes it. */
  readonly postgresBin?: string | undefined;
}

export async function layGround({
  say = () => undefined,
  blockTimeSeconds = 1,
  postgresBin,
}: LayOptions = {}): Promise<Laid> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse())
      await each().catch((error) => say(`a part did not stop cleanly: ${String(error)}`));
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), "farebox-bench-"));
    stops.push(async () => {
      for (const dir of [...(await twins(dataDir)), dataDir]) await rm(dir, { recursive: true, force: true });
    });
    await chmod(dataDir, 0o755); // or a part that runs as another user cannot work in it
    const postgres = await startPostgres({ dataDir, say, bin: postgresBin });
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
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

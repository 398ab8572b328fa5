/** A service that can be killed: starts both parts on the folder it is given, says so, and waits. */
import { startChain } from "../../../src/dev/chain.ts";
import { deployDevContracts } from "../../../src/dev/deploy.ts";
import { masterSecret } from "../../../src/dev/master-secret.ts";
import { startPostgres } from "../../../src/dev/postgres.ts";
import { say } from "./say.ts";

const dataDir = process.argv[2] ?? "";
const postgres = await startPostgres({ dataDir, say });
const chain = await startChain({ dataDir, say });
await deployDevContracts({ rpcUrl: chain.rpcUrl, masterSecret: await masterSecret(dataDir) });
process.stdout.write(`${JSON.stringify({ postgres: postgres.pid, chain: chain.pid })}\n`);
setInterval(() => undefined, 1000);

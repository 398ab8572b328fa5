/** `node --import tsx src/dev/prepare-chain.ts <rpcUrl> <masterSecret>`: puts the dev contracts on a local chain and gas on
 *  its lanes' keys, where the service is told of the chain by `FAREBOX_CHAINS`. What is there already stays. */
import { deployDevContracts } from "./deploy.ts";

const [rpcUrl, masterSecret] = process.argv.slice(2);
if (!rpcUrl || !masterSecret) throw new Error("name the chain's RPC URL and the deployment's master secret");
const { treasury, router, assets } = await deployDevContracts({ rpcUrl, masterSecret });
const chain = { treasury: treasury.address, router, assets };
process.stdout.write(`${JSON.stringify(chain)}\n`);

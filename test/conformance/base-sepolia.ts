/** A local chain that calls itself Base Sepolia, with our token at the address of its USDC: the one place where clients
 *  with nothing but their defaults, and every v1 client, can pay. */
import { encodeAbiParameters, encodeFunctionData } from "viem";
import { type Address, address } from "#kernel/bytes";
import { loadArtifacts } from "../../contracts/index.ts";
import { freshDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { type HouseOptions, startHouse } from "../support/house.ts";

export const network = "eip155:84532";
export const v1Network = "base-sepolia";
export const usdc = address("0x036CbD53842c5426634e7929541eC2318f3dCF7e");
/** keccak256("eip1967.proxy.implementation") - 1 */
const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

export async function startBaseSepolia(options: HouseOptions = {}) {
  const dev = await asBaseSepolia(await startDevChain({ chainId: 84532 }));
  const database = await freshDatabase();
  const running = await startHouse(dev, database, options);
  return {
    dev,
    database,
    ...running,
    async stop() {
      await running.stop();
      await database.drop();
      await dev.stop();
    },
  };
}

/** Code and one storage word make the proxy; what a constructor would have written, `initialize` writes. */
async function asBaseSepolia(dev: DevChain): Promise<DevChain> {
  const { contracts, anvil } = dev;
  const { devToken } = await loadArtifacts();
  const proxy = await anvil.rpc("eth_getCode", [contracts.assets.USDC, "latest"]);
  await anvil.rpc("anvil_setCode", [usdc, proxy]);
  const implementation = encodeAbiParameters([{ type: "address" }], [contracts.tokenImplementation]);
  await anvil.rpc("anvil_setStorageAt", [usdc, IMPLEMENTATION_SLOT, implementation]);
  const owner = contracts.deployer.address;
  const args = ["USDC", "USDC", "2", owner] as const;
  await dev.transact(owner, {
    to: usdc,
    data: encodeFunctionData({ abi: devToken.abi, functionName: "initialize", args }),
  });
  await anvil.mine(3); // an observer begins at a final block, and asks the token there
  return {
    ...dev,
    usdc,
    config: { ...dev.config, slug: v1Network, assets: [{ symbol: "USDC", contract: usdc }] },
    administer: (functionName, given, token: Address = usdc) => dev.administer(functionName, given, token),
  };
}

/** A house inside the benchmark's process that answers and runs nothing, on a chain and a database of the benchmark. */
import { createKey, createMerchant } from "#api";
import { chainRow } from "#facilitator";
import { systemClock, systemRandom } from "#kernel/system";
import { compose, type House } from "../src/compose.ts";
import { type DevContracts, deployDevContracts } from "../src/dev/deploy.ts";
import type { BenchChain } from "./chain.ts";
import { silent } from "./ground.ts";

export const masterSecret = "the master secret of benchmarks, long enough";

export interface Ground {
  readonly databaseUrl: string;
  readonly chain: BenchChain;
  readonly contracts: DevContracts;
}

export function deployBenchContracts({ rpcUrl }: BenchChain): Promise<DevContracts> {
  return deployDevContracts({ rpcUrl, masterSecret, blockTimeSeconds: 1 });
}

/** The chain as `FAREBOX_CHAINS` names it. */
export function chainConfig({ chain, contracts }: Pick<Ground, "chain" | "contracts">) {
  return {
    slug: "local",
    chainId: chain.chainId,
    rpcUrls: [chain.rpcUrl],
    treasury: contracts.treasury.address,
    assets: Object.entries(contracts.assets).map(([symbol, contract]) => ({ symbol, contract })),
  };
}

export function openWebHouse(ground: Ground): Promise<House> {
  const { contracts, databaseUrl } = ground;
  return compose({
    databaseUrl,
    chains: [chainRow(chainConfig(ground))],
    signerKeys: contracts.signers.slice(0, 1).map(({ privateKey }) => privateKey),
    treasuryKey: contracts.treasury.privateKey,
    masterSecret,
    role: "web",
    baseUrl: "http://127.0.0.1",
    rateLimits: "off",
    version: "0.0.0",
    clock: systemClock,
    random: systemRandom,
    log: silent,
    meter: { count: () => {}, time: () => {} },
  });
}

export async function newSecretKey({
  db,
  newId,
}: House): Promise<{ readonly merchantId: string; readonly secretKey: string }> {
  const operator = { db, newId, clock: systemClock, random: systemRandom, masterSecret };
  const { id } = await createMerchant(operator, {
    name: "Bench",
    city: "Porto",
    countryCode: "PT",
    feeBps: 50,
  });
  const { plaintext } = await createKey(operator, { merchantId: id, kind: "sk", name: "bench" });
  return { merchantId: id, secretKey: plaintext };
}

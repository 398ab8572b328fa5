import { readFile } from "node:fs/promises";
import { chainRow } from "#facilitator";
import type { OutsideParts } from "../config.ts";
import { deriveKey } from "../keys.ts";
import { signerLabels } from "./deploy.ts";
import { type DevJson, devJsonPath } from "./dev-json.ts";
import { masterSecret } from "./master-secret.ts";

/** Database, chain and secret of the local deployment that is running on `dataDir`. Rejects with one sentence when none
 *  is. */
export async function recordedParts(dataDir: string): Promise<OutsideParts> {
  const text = await readFile(devJsonPath(dataDir), "utf8").catch(() => null);
  if (text === null)
    throw new Error(
      `No deployment is running on ${dataDir}. Start one with npm start, or set DATABASE_URL and FAREBOX_CHAINS.`,
    );
  const { databaseUrl, chain } = JSON.parse(text) as DevJson;
  const secret = await masterSecret(dataDir);
  const row = chainRow({
    slug: chain.slug,
    chainId: Number(chain.network.slice("eip155:".length)),
    rpcUrls: [chain.rpcUrl],
    treasury: chain.treasury,
    assets: Object.entries(chain.assets).map(([symbol, contract]) => ({ symbol, contract })),
  });
  return {
    databaseUrl,
    chains: [row],
    signerKeys: signerLabels.map((label) => deriveKey(secret, label)),
    treasuryKey: null,
    masterSecret: secret,
  };
}

import { createKey, createMerchant, sandboxAccess } from "#api";
import { type ChainRow, chainRow } from "#facilitator";
import type { Hex } from "#kernel/bytes";
import type { Clock, Random } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Database } from "#store";
import type { SandboxParts } from "../compose.ts";
import { startChain } from "./chain.ts";
import { type DevContracts, deployDevContracts } from "./deploy.ts";
import { removeDevJson, writeDevJson } from "./dev-json.ts";
import { claimFolder } from "./folder-claim.ts";
import { masterSecret as readMasterSecret } from "./master-secret.ts";
import { startPostgres } from "./postgres.ts";
import { startSandboxProvider } from "./provider-process.ts";
import { sandboxChain } from "./sandbox-chain.ts";

/** The deployment that needs nothing but npm: a database, a chain with its contracts, and keys, all of one folder. */
export interface LocalParts {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly chains: readonly ChainRow[];
  readonly signerKeys: readonly Hex[];
  readonly treasuryKey: Hex;
  readonly masterSecret: string;
  readonly contracts: DevContracts;
  readonly sandbox: SandboxParts;
  stop(): Promise<void>;
}

const SLUG = "local";
const CHAIN_ID = 31337;
const BLOCK_TIME_SECONDS = 1;

/** Starts or takes over the embedded parts of `dataDir`. Rejects with one sentence when the folder is in use, and with
 *  the signal's reason when it ends the start; then nothing of it is left running. */
export async function startLocalParts({
  dataDir,
  port,
  say,
  signal,
}: {
  dataDir: string;
  /** Where the service will listen: the sandbox provider calls back there. */
  port: number;
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<LocalParts> {
  const claim = await claimFolder(dataDir);
  const parts: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await removeDevJson(dataDir);
    const ends = await Promise.allSettled(parts.map((part) => part.stop()));
    await claim.release();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };
  async function started<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const part = await starting;
    parts.push(part);
    signal.throwIfAborted();
    return part;
  }
  try {
    await removeDevJson(dataDir);
    const masterSecret = await readMasterSecret(dataDir);
    const provider = await started(
      startSandboxProvider({ dataDir, access: sandboxAccess(masterSecret), servicePort: port }),
    );
    const database = await started(startPostgres({ dataDir, say, signal }));
    const node = { chainId: CHAIN_ID, blockTimeSeconds: BLOCK_TIME_SECONDS };
    const { rpcUrl } = await started(startChain({ dataDir, say, ...node }));
    const contracts = await deployDevContracts({
      rpcUrl,
      masterSecret,
      blockTimeSeconds: BLOCK_TIME_SECONDS,
    });
    return {
      databaseUrl: database.url,
      rpcUrl,
      chains: [localRow(rpcUrl, contracts)],
      signerKeys: contracts.signers.map(({ privateKey }) => privateKey),
      treasuryKey: contracts.treasury.privateKey,
      masterSecret,
      contracts,
      sandbox: {
        chain: sandboxChain({ slug: SLUG, rpcUrl, masterSecret }),
        providerUrl: provider.baseUrl,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function localRow(rpcUrl: string, { treasury, router, assets }: DevContracts): ChainRow {
  return chainRow({
    slug: SLUG,
    chainId: CHAIN_ID,
    rpcUrls: [rpcUrl],
    blockTimeSeconds: BLOCK_TIME_SECONDS,
    treasury: treasury.address,
    router,
    assets: Object.entries(assets).map(([symbol, contract]) => ({ symbol, contract })),
  });
}

/** The demo merchant, the same after every restart. */
const DEMO_MERCHANT = "mer_00000000000000000000000000";

/** Makes the demo merchant and its keys where they are missing, and tells where everything is in `dev.json`. */
export async function announce(
  parts: LocalParts,
  operator: { db: Database; clock: Clock; newId: NewId; random: Random },
  { dataDir, baseUrl }: { dataDir: string; baseUrl: string },
): Promise<{ readonly secretKey: string; readonly publishableKey: string }> {
  const { masterSecret, contracts, rpcUrl, databaseUrl } = parts;
  const merchant = await createMerchant(operator, {
    id: DEMO_MERCHANT,
    name: "Demo Merchant",
    city: "Lisbon",
    countryCode: "PT",
    feeBps: 50,
  });
  const keys = { ...operator, masterSecret };
  const seed = (kind: string) => `${masterSecret}:demo-key:${kind}`;
  const secret = await createKey(keys, {
    merchantId: merchant.id,
    kind: "sk",
    name: "Demo secret key",
    seed: seed("sk"),
  });
  const publishable = await createKey(keys, {
    merchantId: merchant.id,
    kind: "pk",
    name: "Demo publishable key",
    seed: seed("pk"),
  });
  const { USDC, EURC, USDG } = contracts.assets;
  await writeDevJson(dataDir, {
    baseUrl,
    merchantId: merchant.id,
    secretKey: secret.plaintext,
    publishableKey: publishable.plaintext,
    chain: {
      network: `eip155:${CHAIN_ID}`,
      slug: SLUG,
      rpcUrl,
      treasury: contracts.treasury.address,
      assets: { USDC, EURC, USDG },
    },
    databaseUrl,
    payer: { address: contracts.payer.address, privateKey: contracts.payer.privateKey },
  });
  return { secretKey: secret.plaintext, publishableKey: publishable.plaintext };
}

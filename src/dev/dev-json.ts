/** `dev.json`: where the running deployment is, for people, examples and tests (DESIGN §5). */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "./atomic-file.ts";

export interface DevJson {
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly chain: {
    readonly network: string;
    readonly slug: string;
    readonly rpcUrl: string;
    readonly treasury: string;
    readonly assets: { readonly USDC: string; readonly EURC: string; readonly USDG: string };
  };
  readonly databaseUrl: string;
  readonly payer: { readonly address: string; readonly privateKey: string };
}

/** Written when the service is ready to serve. It holds keys: readable by its owner only. */
export async function writeDevJson(dataDir: string, content: DevJson): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeAtomic(devJsonPath(dataDir), `${JSON.stringify(content, null, 2)}\n`, 0o600);
}

/** Removed at the start of a start, so that its presence means "ready". */
export async function removeDevJson(dataDir: string): Promise<void> {
  await rm(devJsonPath(dataDir), { force: true });
}

export function devJsonPath(dataDir: string): string {
  return join(dataDir, "dev.json");
}

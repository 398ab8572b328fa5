/** Our service in a process of its own, with a resource to pay for. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { PaymentRequired } from "@x402/core/types";
import { buildPrograms, dist } from "../src/build.ts";
import { freePort } from "../src/dev/free-port.ts";
import { repository, startChild } from "./child.ts";
import type { Offer } from "./payments.ts";
import type { Ground, Subject } from "./subject.ts";

export interface FareboxOptions {
  readonly signers: number;
  readonly profileDir: string | undefined;
  /** Wei an hour; those of a local chain unless told otherwise. */
  readonly gasBudgets?: Readonly<Record<string, string>>;
}

export interface Farebox extends Subject {
  readonly resourceId: string;
  /** Of its process: whoever has it can give commands to the deployment. */
  readonly env: Readonly<Record<string, string>>;
}

export async function startFarebox(ground: Ground, options: FareboxOptions): Promise<Farebox> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const home = join(ground.dataDir, "service");
  await mkdir(home, { recursive: true });
  const signers = ground.contracts.signers.slice(0, options.signers);
  const env = {
    ...settings(
      ground,
      signers.map(({ privateKey }) => privateKey),
      options.gasBudgets,
    ),
    PORT: String(port),
    FAREBOX_BASE_URL: baseUrl,
    FAREBOX_DATA: home,
  };
  const { profileDir } = options;
  const child = await startChild({
    name: "farebox",
    args: ["src/main.ts"],
    nodeOptions: profileDir ? ["--cpu-prof", "--cpu-prof-dir", resolve(profileDir)] : [],
    env,
    readyUrl: `${baseUrl}/health/ready`,
    logFile: join(ground.dataDir, "farebox.log"),
    home,
  });
  try {
    const { id, offer } = await registerResource(
      baseUrl,
      await secretKey(env),
      // A URL belongs to one merchant, and each start has a merchant of its own.
      `https://merchant.example.com/bench-${port}`,
    );
    const base = `/x402/resources/${id}`;
    return {
      name: "farebox",
      resourceId: id,
      env,
      child,
      baseUrl,
      verifyPath: `${base}/verify`,
      settlePath: `${base}/settle`,
      signers: signers.map(({ address }) => address),
      offer,
    };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function settings(
  ground: Ground,
  signerKeys: readonly string[],
  gasBudgets: FareboxOptions["gasBudgets"],
): Record<string, string> {
  const { contracts, chainId, rpcUrl, blockTimeSeconds } = ground;
  const assets = Object.entries(contracts.assets).map(([symbol, contract]) => ({ symbol, contract }));
  const treasury = contracts.treasury.address;
  return {
    DATABASE_URL: ground.databaseUrl,
    FAREBOX_CHAINS: JSON.stringify([
      { slug: "local", chainId, rpcUrls: [rpcUrl], blockTimeSeconds, treasury, assets, gasBudgets },
    ]),
    FAREBOX_SIGNER_KEYS: signerKeys.join(","),
    FAREBOX_TREASURY_KEY: contracts.treasury.privateKey,
    FAREBOX_MASTER_SECRET: ground.masterSecret,
    FAREBOX_RATE_LIMITS: "off",
  };
}

/** Of a new merchant, over the command that operators use. */
export async function secretKey(env: Readonly<Record<string, string>>): Promise<string> {
  await buildPrograms();
  const merchant = ["--new-merchant", "Bench", "--city", "Lisbon", "--country", "PT"];
  const keys = ["keys", "create", ...merchant, "--permissions", "x402:manage,x402:read"];
  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, "cli.mjs"), ...keys], {
    cwd: repository,
    env: { PATH: "/usr/bin:/bin", ...env },
  });
  const key = stdout.trimEnd().split("\n").at(-1) ?? "";
  if (!key.startsWith("sk_")) throw new Error(`the command gave no secret key:\n${stdout}`);
  return key;
}

/** A resource for one cent of dev USDC. */
export async function registerResource(
  baseUrl: string,
  key: string,
  url = "https://merchant.example.com/bench",
): Promise<{ id: string; offer: Offer }> {
  const answer = await fetch(`${baseUrl}/v1/x402/resources`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      url,
      price: { amount: "0.01", asset: "USD" },
      rails: [{ chain: "local", asset: "USDC" }],
    }),
  });
  if (!answer.ok) throw new Error(`registering the resource: ${answer.status} ${await answer.text()}`);
  const { id } = (await answer.json()) as { id: string };
  const asked = await fetch(`${baseUrl}/x402/resources/${id}/payment-required`);
  const { resource, accepts } = (await asked.json()) as PaymentRequired;
  const [requirements] = accepts;
  if (!requirements) throw new Error("the resource cannot be paid");
  return { id, offer: { resource, requirements } };
}

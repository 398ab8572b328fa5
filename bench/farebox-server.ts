/** Our service in a process of its own, with a resource to pay for. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { PaymentRequired } from "@x402/core/types";
import { freePort } from "../src/dev/free-port.ts";
import { type Child, repository, startChild } from "./child.ts";
import type { Offer } from "./payments.ts";
import type { Ground, Subject } from "./subject.ts";

export interface FareboxOptions {
  readonly signers: number;
  readonly profileDir: string | undefined;
}

export async function startFarebox(ground: Ground, options: FareboxOptions): Promise<Subject> {
  const service = await startService(ground, options);
  const { child, baseUrl, signers } = service;
  try {
    const { settlePath, verifyPath, offer } = await sell(service, "Bench");
    return { name: "farebox", child, baseUrl, verifyPath, settlePath, signers, offer };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** One process of our service. */
export interface Service {
  readonly child: Child;
  readonly baseUrl: string;
  /** Addresses that pay its gas. */
  readonly signers: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export async function startService(
  ground: Ground,
  { signers: count, profileDir, role = "all" }: FareboxOptions & { readonly role?: "all" | "web" | "worker" },
): Promise<Service> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const name = `farebox-${role}-${port}`;
  const home = join(ground.dataDir, name);
  await mkdir(home, { recursive: true });
  // the second key is the reference's
  const signers = ground.contracts.signers.filter((_, index) => index !== 1).slice(0, count);
  const env = {
    ...settings(
      ground,
      signers.map(({ privateKey }) => privateKey),
    ),
    PORT: String(port),
    ROLE: role,
    FAREBOX_BASE_URL: baseUrl,
    FAREBOX_DATA: home,
  };
  const child = await startChild({
    name,
    args: ["src/main.ts"],
    nodeOptions: profileDir ? ["--cpu-prof", "--cpu-prof-dir", resolve(profileDir)] : [],
    env,
    readyUrl: `${baseUrl}/health/ready`,
    logFile: join(ground.dataDir, `${name}.log`),
    home,
    readyWithinMs: 120_000,
  });
  return { child, baseUrl, signers: signers.map(({ address }) => address), env };
}

/** A new merchant's resource, registered where the service answers. */
export async function sell({ baseUrl, env }: Service, merchant: string) {
  const { id, offer } = await registerResource(baseUrl, await secretKey(env, merchant), merchant);
  const base = `/x402/resources/${id}`;
  return { verifyPath: `${base}/verify`, settlePath: `${base}/settle`, offer };
}

function settings(ground: Ground, signerKeys: readonly string[]): Record<string, string> {
  const { contracts, chainId, rpcUrl, blockTimeSeconds } = ground;
  const assets = Object.entries(contracts.assets).map(([symbol, contract]) => ({ symbol, contract }));
  const treasury = contracts.treasury.address;
  return {
    DATABASE_URL: ground.databaseUrl,
    FAREBOX_CHAINS: JSON.stringify([
      { slug: "local", chainId, rpcUrls: [rpcUrl], blockTimeSeconds, treasury, assets },
    ]),
    FAREBOX_SIGNER_KEYS: signerKeys.join(","),
    FAREBOX_TREASURY_KEY: contracts.treasury.privateKey,
    FAREBOX_MASTER_SECRET: ground.masterSecret,
    FAREBOX_RATE_LIMITS: "off",
  };
}

/** Of a new merchant, over the command that operators use. */
async function secretKey(env: Service["env"], merchant: string): Promise<string> {
  const keys = ["keys", "create", "--new-merchant", merchant, "--permissions", "x402:manage,x402:read"];
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "src/cli.ts", ...keys], {
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
  merchant = "merchant",
): Promise<{ id: string; offer: Offer }> {
  const answer = await fetch(`${baseUrl}/v1/x402/resources`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      url: `https://merchant.example.com/${merchant.toLowerCase()}`,
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

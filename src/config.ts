import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { z } from "zod";
import { addressOf, type ChainRow, chainRows } from "#facilitator";
import type { Hex } from "#kernel/bytes";
import { deriveKey } from "./keys.ts";

/** One line for the operator, then exit 1: what is wrong and what to set. */
export class ConfigProblem extends Error {}

export type Role = "all" | "web" | "worker";

/** The service's settings; read once from the environment and handed in. */
export interface Config {
  readonly port: number;
  /** Port of `/metrics`; 0 takes a free one. */
  readonly metricsPort: number;
  /** Address that it is served on: loopback unless told. */
  readonly metricsHost: string;
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly role: Role;
  readonly rateLimits: "on" | "off";
  /** Reverse proxies in front whose word on a caller's address is taken. */
  readonly trustedProxyHops: number;
  readonly logLevel: "info" | "warn" | "error";
  /** Host names under which agents may call MCP, and of pages that may, beside our own and loopback. */
  readonly mcpHosts: readonly string[];
  readonly mcpOrigins: readonly string[];
  /** Null: mails become files in the data folder. */
  readonly smtpUrl: string | null;
  /** The address that mails come from. */
  readonly mailFrom: string;
  /** Null: the embedded database and local chain of the data folder. */
  readonly outside: OutsideParts | null;
  /** What may be left out, and is missed where the money is real. */
  readonly warnings: readonly string[];
}

/** A database and chains that somebody else runs. */
export interface OutsideParts {
  readonly databaseUrl: string;
  readonly chains: readonly ChainRow[];
  readonly signerKeys: readonly Hex[];
  readonly treasuryKey: Hex | null;
  readonly masterSecret: string;
}

const known = [
  "PORT",
  "METRICS_PORT",
  "METRICS_HOST",
  "DATABASE_URL",
  "ROLE",
  "SMTP_URL",
  "LOG_LEVEL",
  "FAREBOX_DATA",
  "FAREBOX_BASE_URL",
  "FAREBOX_CHAINS",
  "FAREBOX_SIGNER_KEYS",
  "FAREBOX_TREASURY_KEY",
  "FAREBOX_MASTER_SECRET",
  "FAREBOX_RATE_LIMITS",
  "FAREBOX_MCP_HOSTS",
  "FAREBOX_MCP_ORIGINS",
  "FAREBOX_MAIL_FROM",
  "FAREBOX_TRUSTED_PROXIES",
] as const;
type Name = (typeof known)[number];
type Env = Readonly<Record<string, string | undefined>>;

/** Reads the environment. Throws `ConfigProblem` for a value that is missing, malformed or unknown. */
export function readConfig(env: Env): Config {
  const stranger = Object.keys(env).find(
    (name) => name.startsWith("FAREBOX_") && !known.includes(name as Name),
  );
  if (stranger)
    throw new ConfigProblem(`${stranger} is not a setting of Farebox. Known: ${known.join(", ")}.`);
  const port = integer(env, "PORT", 4020, 1);
  const metricsPort = integer(env, "METRICS_PORT", 0, 0);
  if (metricsPort === port)
    throw new ConfigProblem(`PORT and METRICS_PORT are both ${port}. Set another METRICS_PORT.`);
  const publicUrl = baseUrl(env.FAREBOX_BASE_URL || `http://127.0.0.1:${port}`);
  const role = oneOf(env, "ROLE", ["all", "web", "worker"], "all");
  const outside = outsideParts(env);
  return {
    port,
    metricsPort,
    metricsHost: metricsHost(env),
    dataDir: env.FAREBOX_DATA || ".farebox",
    baseUrl: publicUrl,
    role,
    rateLimits: oneOf(env, "FAREBOX_RATE_LIMITS", ["on", "off"], "on"),
    trustedProxyHops: Number(oneOf(env, "FAREBOX_TRUSTED_PROXIES", ["0", "1", "2", "3", "4", "5"], "0")),
    logLevel: oneOf(env, "LOG_LEVEL", ["info", "warn", "error"], "info"),
    mcpHosts: hostNames(env, "FAREBOX_MCP_HOSTS"),
    mcpOrigins: hostNames(env, "FAREBOX_MCP_ORIGINS"),
    smtpUrl: smtpUrl(env),
    mailFrom: mailFrom(env, publicUrl),
    outside,
    warnings: outside ? warningsOf(env, { ...outside, role, publicUrl }) : [],
  };
}

function warningsOf(
  env: Env,
  {
    chains,
    treasuryKey,
    role,
    publicUrl,
  }: OutsideParts & { readonly role: Role; readonly publicUrl: string },
): readonly string[] {
  const isReal = chains.some(({ isLocal }) => !isLocal);
  return [
    ...(isReal && !env.FAREBOX_BASE_URL
      ? [
          `FAREBOX_BASE_URL is not set: pages, mails and agents are given addresses at ${publicUrl}, which lead nowhere from elsewhere. Set the public URL.`,
        ]
      : []),
    ...(role !== "web" && treasuryKey === null
      ? [
          "FAREBOX_TREASURY_KEY is not set: refunds, payouts and returns wait until a process that works has it.",
        ]
      : []),
    ...(isReal && role !== "web" && !env.SMTP_URL
      ? ["SMTP_URL is not set: mails become files in the data folder, and nobody receives them."]
      : []),
  ];
}

function integer(env: Env, name: Name, otherwise: number, least: number): number {
  const text = env[name];
  if (text === undefined || text === "") return otherwise;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= 65_535))
    throw new ConfigProblem(`${name} must be a port from ${least} to 65535, got ${JSON.stringify(text)}.`);
  return value;
}

function metricsHost({ METRICS_HOST: text }: Env): string {
  if (!text) return "127.0.0.1";
  if (!isIP(text))
    throw new ConfigProblem(
      `METRICS_HOST must be an IP address to listen on, such as 0.0.0.0 for all, got ${JSON.stringify(text)}.`,
    );
  return text;
}

function oneOf<T extends string>(env: Env, name: Name, values: readonly T[], otherwise: T): T {
  const text = env[name] || otherwise;
  const value = values.find((each) => each === text);
  if (value === undefined)
    throw new ConfigProblem(`${name} must be one of ${values.join(", ")}, got ${JSON.stringify(text)}.`);
  return value;
}

function hostNames(env: Env, name: Name): readonly string[] {
  const names = (env[name] ?? "").split(",").map((each) => each.trim().toLowerCase());
  const stranger = names.find((each) => each !== "" && !isHostName(each));
  if (stranger !== undefined)
    throw new ConfigProblem(
      `${name} holds host names without scheme and port, separated by commas, got ${JSON.stringify(stranger)}.`,
    );
  return names.filter(Boolean);
}

function isHostName(text: string): boolean {
  return URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text;
}

function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ConfigProblem(`FAREBOX_BASE_URL must be an http(s) URL, got ${JSON.stringify(text)}.`);
  // Routes, forms and agents' addresses begin at the root of a host.
  if (url.pathname !== "/" || url.username || url.password || /[?#]/.test(text))
    throw new ConfigProblem(
      `FAREBOX_BASE_URL must be scheme, host and port and nothing else, such as ${url.origin}, got ${JSON.stringify(text)}.`,
    );
  // As URLs are found again, whatever capitals or usual port it was written with.
  return url.origin;
}

function smtpUrl({ SMTP_URL: text }: Env): string | null {
  if (!text) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const hasMore = url !== null && (/[^/]/.test(url.pathname) || url.search !== "" || url.hash !== "");
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || hasMore)
    // Not shown: it may hold a password.
    throw new ConfigProblem("SMTP_URL must look like smtp://user:password@host:587 or smtps://host.");
  return text;
}

/** An address of the service's own host; mail has no use for a bare IP address. */
function mailFrom({ FAREBOX_MAIL_FROM: text }: Env, publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  if (!text) return `no-reply@${/^[\d.]+$|^\[/.test(hostname) ? "localhost" : hostname}`;
  if (!z.email().safeParse(text).success)
    throw new ConfigProblem(`FAREBOX_MAIL_FROM must be an e-mail address, got ${JSON.stringify(text)}.`);
  return text;
}

/** Both or none: a database without chains, or chains without a database, is a mistake. */
function outsideParts(env: Env): OutsideParts | null {
  const set = (["DATABASE_URL", "FAREBOX_CHAINS"] as const).filter((name) => env[name]);
  if (set.length === 0) return refuseStray(env);
  if (!env.DATABASE_URL)
    throw new ConfigProblem(
      "FAREBOX_CHAINS is set and DATABASE_URL is not. Set both, or neither for the local deployment.",
    );
  if (!env.FAREBOX_CHAINS)
    throw new ConfigProblem(
      "DATABASE_URL is set and FAREBOX_CHAINS is not. Set both, or neither for the local deployment.",
    );
  if (!/^postgres(?:ql)?:\/\//.test(env.DATABASE_URL))
    throw new ConfigProblem("DATABASE_URL must look like postgres://user:password@host:5432/database.");
  if (!URL.canParse(env.DATABASE_URL))
    // Not shown: it may hold a password.
    throw new ConfigProblem(
      "DATABASE_URL is no URL: percent-encode what is neither letter nor digit in its user and password.",
    );
  // They would take the place of ours: the role that cannot rewrite the books, and how long a statement may take.
  if (new URL(env.DATABASE_URL).searchParams.has("options"))
    throw new ConfigProblem(
      "DATABASE_URL has options, and Farebox sets those of its sessions itself. Leave them out; ALTER ROLE … SET keeps others.",
    );
  const masterSecret = env.FAREBOX_MASTER_SECRET ?? "";
  if (masterSecret.length < 32)
    throw new ConfigProblem(
      "FAREBOX_MASTER_SECRET must be set to at least 32 characters; every API key depends on it.",
    );
  const parts = {
    databaseUrl: env.DATABASE_URL,
    chains: chains(env.FAREBOX_CHAINS),
    signerKeys: signerKeys(env),
    treasuryKey: env.FAREBOX_TREASURY_KEY
      ? privateKey("FAREBOX_TREASURY_KEY", env.FAREBOX_TREASURY_KEY)
      : null,
    masterSecret,
  };
  refuseMixedKeys(parts);
  return parts;
}

/** Gas keys lie in every process that sends: one of them must not move money or sign orders as well. */
function refuseMixedKeys({ chains, signerKeys, treasuryKey, masterSecret }: OutsideParts): void {
  const lanes = signerKeys.map(addressOf);
  const others = [
    ...(treasuryKey ? [{ address: addressOf(treasuryKey), whose: "that of FAREBOX_TREASURY_KEY" }] : []),
    ...chains.map(({ slug, treasury }) => ({
      address: treasury,
      whose: `that of ${slug}'s treasury in FAREBOX_CHAINS`,
    })),
    {
      address: addressOf(deriveKey(masterSecret, "operator")),
      whose: "the operator's, which is derived from FAREBOX_MASTER_SECRET",
    },
  ];
  const mixed = others.find(({ address }) => lanes.includes(address));
  if (mixed)
    throw new ConfigProblem(
      `FAREBOX_SIGNER_KEYS holds a key that is ${mixed.whose}. Set keys there that pay gas and do nothing else.`,
    );
}

/** Settings of a deployment on outside parts: somebody who sets one of them does not want the local one. */
function refuseStray(env: Env): null {
  const stray = (["FAREBOX_MASTER_SECRET", "FAREBOX_SIGNER_KEYS", "FAREBOX_TREASURY_KEY"] as const).find(
    (name) => env[name],
  );
  if (stray)
    throw new ConfigProblem(
      `${stray} is set, but neither DATABASE_URL nor FAREBOX_CHAINS. Set both, or unset ${stray}: the local deployment has secrets of its own.`,
    );
  return null;
}

function signerKeys(env: Env): readonly Hex[] {
  const keys = (env.FAREBOX_SIGNER_KEYS ?? "")
    .split(",")
    .map((key) => key.trim())
    .filter(Boolean);
  if (keys.length === 0)
    throw new ConfigProblem(
      "FAREBOX_SIGNER_KEYS must hold the private keys that pay gas, separated by commas.",
    );
  const read = keys.map((key) => privateKey("FAREBOX_SIGNER_KEYS", key));
  if (new Set(read).size < read.length)
    throw new ConfigProblem("FAREBOX_SIGNER_KEYS holds a key twice. Every lane needs a key of its own.");
  return read;
}

function privateKey(name: Name, text: string): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new ConfigProblem(`${name} must be 0x and 64 hex digits.`);
  return text.toLowerCase() as Hex;
}

/** An amount beyond what a JSON number holds. */
const Wei = z
  .string()
  .regex(/^[1-9]\d{0,35}$/, "must be a whole number of wei above 0, as text")
  .transform(BigInt)
  .optional();

const Chains = z
  .array(
    z.strictObject({
      slug: z.string(),
      chainId: z.int().positive(),
      rpcUrls: z.array(z.string()).min(1),
      rpcPerSecond: z.int().positive().optional(),
      blockTimeSeconds: z.number().positive().optional(),
      confirmations: z.int().positive().optional(),
      treasury: z.string(),
      router: z.string().optional(),
      gasBudgets: z
        .strictObject({ payer: Wei, newPayer: Wei, payable: Wei, merchant: Wei, chain: Wei })
        .optional(),
      explorer: z.string().optional(),
      assets: z.array(z.strictObject({ symbol: z.string(), contract: z.string() })).optional(),
      dailyLimits: z.record(z.string(), z.string()).optional(),
      approvalsAbove: z.record(z.string(), z.string()).optional(),
    }),
  )
  .min(1);

/** JSON, or the path of a file that holds it. */
function chains(text: string): readonly ChainRow[] {
  const parsed = Chains.safeParse(chainsJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigProblem(
      `FAREBOX_CHAINS: ${issue?.path.join(".") || "the value"}: ${issue?.message ?? "malformed"}.`,
    );
  }
  try {
    return chainRows(parsed.data);
  } catch (error) {
    throw new ConfigProblem(error instanceof Error ? error.message : String(error));
  }
}

function chainsJson(text: string): unknown {
  try {
    return JSON.parse(text.trimStart().startsWith("[") ? text : readFileSync(text, "utf8"));
  } catch {
    throw new ConfigProblem("FAREBOX_CHAINS is neither a JSON array nor the path of a file that holds one.");
  }
}

/** What `readConfig` refuses, and what its one line says. */
import { describe, expect, it } from "vitest";
import { addressOf } from "#facilitator";
import { ConfigProblem, readConfig } from "../../src/config.ts";
import { deriveKey } from "../../src/keys.ts";
import { chain, chains, KEY, OTHER_KEY, outside, TOKEN } from "./settings.ts";

/** The one line that the operator reads. */
function problem(env: Record<string, string | undefined>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigProblem) return error.message;
    throw error;
  }
  return "no problem";
}

/** What is set on top of a good configuration of outside parts, and what the line has to say. */
const refused: readonly (readonly [what: string, set: Record<string, string | undefined>, says: RegExp])[] = [
  [
    "an unknown setting",
    { FAREBOX_PORT: "1" },
    /^FAREBOX_PORT is not a setting of Farebox\. Known: PORT, .*FAREBOX_CHAINS/,
  ],
  ["a misspelt setting", { FAREBOX_SIGNER_KEY: KEY }, /^FAREBOX_SIGNER_KEY is not a setting/],
  ["an unknown setting that is empty", { FAREBOX_X: "" }, /^FAREBOX_X is not a setting/],
  [
    "a mail server of another protocol",
    { SMTP_URL: "https://mail.example" },
    /^SMTP_URL must look like smtp:/,
  ],
  [
    "a mail server with options",
    { SMTP_URL: "smtp://mail.example?pool=true" },
    /^SMTP_URL must look like smtp:/,
  ],
  ["a mail server without a name", { SMTP_URL: "smtp://" }, /^SMTP_URL must look like smtp:/],
  [
    "a sender with a name",
    { FAREBOX_MAIL_FROM: "Us <us@pay.example>" },
    /^FAREBOX_MAIL_FROM must be an e-mail/,
  ],
  ["a port that is no number", { PORT: "http" }, /^PORT must be a port from 1 to 65535, got "http"/],
  ["a port of nobody's choice", { PORT: "0" }, /^PORT must be a port from 1 to 65535, got "0"/],
  ["a negative port", { PORT: "-1" }, /^PORT must be a port/],
  ["a port beyond the last", { PORT: "65536" }, /^PORT must be a port from 1 to 65535/],
  ["a port with a fraction", { PORT: "80.5" }, /^PORT must be a port/],
  [
    "a metrics port that is no number",
    { METRICS_PORT: "on" },
    /^METRICS_PORT must be a port from 0 to 65535, got "on"/,
  ],
  ["an unknown role", { ROLE: "api" }, /^ROLE must be one of all, web, worker, got "api"/],
  [
    "an origin in place of its host name",
    { FAREBOX_MCP_ORIGINS: "https://chat.example" },
    /^FAREBOX_MCP_ORIGINS holds host names without scheme and port/,
  ],
  [
    "a host name for metrics",
    { METRICS_HOST: "metrics.internal" },
    /^METRICS_HOST must be an IP address to listen on, such as 0\.0\.0\.0 for all, got "metrics\.internal"\.$/,
  ],
  [
    "an MCP host with a port",
    { FAREBOX_MCP_HOSTS: "pay.example:443" },
    /^FAREBOX_MCP_HOSTS holds host names/,
  ],
  [
    "an unknown word about limits",
    { FAREBOX_RATE_LIMITS: "no" },
    /^FAREBOX_RATE_LIMITS must be one of on, off/,
  ],
  ["an unknown log level", { LOG_LEVEL: "debug" }, /^LOG_LEVEL must be one of info, warn, error/],
  [
    "a base URL that is none",
    { FAREBOX_BASE_URL: "pay.example" },
    /^FAREBOX_BASE_URL must be an http\(s\) URL/,
  ],
  ["a base URL of another protocol", { FAREBOX_BASE_URL: "ftp://pay.example" }, /^FAREBOX_BASE_URL must be/],
  ...[
    "https://pay.example/farebox",
    "https://u@pay.example",
    "https://pay.example?a",
    "https://pay.example/#",
  ].map(
    (FAREBOX_BASE_URL) =>
      [
        `a base URL with more than a host: ${FAREBOX_BASE_URL}`,
        { FAREBOX_BASE_URL },
        /^FAREBOX_BASE_URL must be scheme, host and port and nothing else, such as https:\/\/pay\.example, got "/,
      ] as const,
  ),
  [
    "chains without a database",
    { DATABASE_URL: undefined },
    /^FAREBOX_CHAINS is set and DATABASE_URL is not\. Set both/,
  ],
  [
    "a database without chains",
    { FAREBOX_CHAINS: undefined },
    /^DATABASE_URL is set and FAREBOX_CHAINS is not\. Set both/,
  ],
  [
    "a signer key without either",
    { DATABASE_URL: undefined, FAREBOX_CHAINS: undefined, FAREBOX_MASTER_SECRET: undefined },
    /^FAREBOX_SIGNER_KEYS is set, but neither DATABASE_URL nor FAREBOX_CHAINS\. Set both, or unset/,
  ],
  [
    "a master secret without either",
    { DATABASE_URL: undefined, FAREBOX_CHAINS: undefined, FAREBOX_SIGNER_KEYS: undefined },
    /^FAREBOX_MASTER_SECRET is set, but neither/,
  ],
  [
    "a database of another make",
    { DATABASE_URL: "mysql://db/farebox" },
    /^DATABASE_URL must look like postgres:\/\//,
  ],
  [
    "a database URL whose password is not encoded",
    { DATABASE_URL: "postgres://farebox:pa#ss/word@db.example:5432/farebox" },
    /^DATABASE_URL is no URL: .*percent-encode/,
  ],
  [
    "a database URL that sets the sessions' options",
    { DATABASE_URL: `${outside.DATABASE_URL}?options=-c%20search_path%3Dother` },
    /^DATABASE_URL has options, .*Leave them out/,
  ],
  [
    "one port for two things",
    { PORT: "8080", METRICS_PORT: "8080" },
    /^PORT and METRICS_PORT are both 8080\. Set another METRICS_PORT\.$/,
  ],
  [
    "no master secret",
    { FAREBOX_MASTER_SECRET: undefined },
    /^FAREBOX_MASTER_SECRET must be set to at least 32 char/,
  ],
  ["a short master secret", { FAREBOX_MASTER_SECRET: "x".repeat(31) }, /^FAREBOX_MASTER_SECRET must be set/],
  [
    "no signer key",
    { FAREBOX_SIGNER_KEYS: undefined },
    /^FAREBOX_SIGNER_KEYS must hold the private keys that pay gas/,
  ],
  ["only separators for signer keys", { FAREBOX_SIGNER_KEYS: " , " }, /^FAREBOX_SIGNER_KEYS must hold/],
  [
    "a signer key without 0x",
    { FAREBOX_SIGNER_KEYS: KEY.slice(2) },
    /^FAREBOX_SIGNER_KEYS must be 0x and 64 hex digits/,
  ],
  [
    "a second signer key that is short",
    { FAREBOX_SIGNER_KEYS: `${KEY},0x12` },
    /^FAREBOX_SIGNER_KEYS must be 0x/,
  ],
  [
    "a signer key twice, in another case",
    { FAREBOX_SIGNER_KEYS: `${OTHER_KEY},${OTHER_KEY.toLowerCase()}` },
    /^FAREBOX_SIGNER_KEYS holds a key twice/,
  ],
  [
    "a treasury key that is none",
    { FAREBOX_TREASURY_KEY: "secret" },
    /^FAREBOX_TREASURY_KEY must be 0x and 64 hex/,
  ],
  [
    "a signer key that is the treasury's, in another case",
    { FAREBOX_SIGNER_KEYS: `${KEY},${OTHER_KEY}`, FAREBOX_TREASURY_KEY: OTHER_KEY.toLowerCase() },
    /^FAREBOX_SIGNER_KEYS holds a key that is that of FAREBOX_TREASURY_KEY\. Set keys there/,
  ],
  [
    "a signer key whose address is a chain's treasury",
    { FAREBOX_CHAINS: chains({ treasury: addressOf(KEY) }) },
    /^FAREBOX_SIGNER_KEYS holds a key that is that of local's treasury in FAREBOX_CHAINS\./,
  ],
  [
    "a signer key that is the operator's",
    { FAREBOX_SIGNER_KEYS: `${KEY},${deriveKey(outside.FAREBOX_MASTER_SECRET, "operator")}` },
    /^FAREBOX_SIGNER_KEYS holds a key that is the operator's, which is derived from FAREBOX_MASTER_SECRET\./,
  ],
  [
    "chains that are no JSON",
    { FAREBOX_CHAINS: "[{" },
    /^FAREBOX_CHAINS is neither a JSON array nor the path/,
  ],
  ["a file of chains that is missing", { FAREBOX_CHAINS: "/no/such/file" }, /^FAREBOX_CHAINS is neither/],
  ["one chain without its array", { FAREBOX_CHAINS: JSON.stringify(chain) }, /^FAREBOX_CHAINS is neither/],
  ["no chains", { FAREBOX_CHAINS: "[]" }, /^FAREBOX_CHAINS: the value: /],
  [
    "a chain without an id",
    { FAREBOX_CHAINS: chains({ chainId: undefined }) },
    /^FAREBOX_CHAINS: 0\.chainId: /,
  ],
  ["a chain without endpoints", { FAREBOX_CHAINS: chains({ rpcUrls: [] }) }, /^FAREBOX_CHAINS: 0\.rpcUrls: /],
  [
    "a chain with a field that nobody knows",
    { FAREBOX_CHAINS: chains({ rpcUrl: "x" }) },
    /^FAREBOX_CHAINS: .*rpcUrl/,
  ],
  [
    "no confirmations at all",
    { FAREBOX_CHAINS: chains({ confirmations: 0 }) },
    /^FAREBOX_CHAINS: 0\.confirmations: /,
  ],
  [
    "a treasury that is no address",
    { FAREBOX_CHAINS: chains({ treasury: "0x12" }) },
    /^FAREBOX_CHAINS, local: treasury must/,
  ],
  [
    "a router that is no address",
    { FAREBOX_CHAINS: chains({ router: "0x12" }) },
    /^FAREBOX_CHAINS, local: router must/,
  ],
  ["no router said as null", { FAREBOX_CHAINS: chains({ router: null }) }, /^FAREBOX_CHAINS: 0\.router: /],
  [
    "an asset that nobody knows",
    { FAREBOX_CHAINS: chains({ assets: [{ symbol: "DOGE", contract: TOKEN }] }) },
    /^FAREBOX_CHAINS, local: the asset DOGE is not supported; known are /,
  ],
  [
    "two chains of one name",
    { FAREBOX_CHAINS: JSON.stringify([4242, 4243].map((chainId) => ({ ...chain, slug: "mine", chainId }))) },
    /^FAREBOX_CHAINS: two entries have the slug mine/,
  ],
  [
    "one chain twice",
    { FAREBOX_CHAINS: JSON.stringify([chain, { ...chain, slug: "again" }]) },
    /^FAREBOX_CHAINS: two entries have the chainId 31337/,
  ],
];

describe("readConfig refuses", () => {
  it.each(refused)("%s", (_, set, says) => {
    const said = problem({ ...outside, ...set });
    expect(said).toMatch(says);
    expect(said).toMatch(/^[^\n]+$/);
  });

  it("without telling a secret of what it was given", () => {
    const secrets = {
      DATABASE_URL: "mysql://farebox:hunter2@db/farebox",
      FAREBOX_MASTER_SECRET: "hunter2",
      FAREBOX_SIGNER_KEYS: "0xhunter2",
      FAREBOX_TREASURY_KEY: "0xhunter2",
      FAREBOX_CHAINS: chains({ rpcUrls: ["wss://rpc.example/hunter2"] }),
    };
    for (const [name, value] of Object.entries(secrets)) {
      const said = problem({ ...outside, [name]: value });
      expect(said).toContain(name);
      expect(said).not.toContain("hunter2");
    }
  });
});

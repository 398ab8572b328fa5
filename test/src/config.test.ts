import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { chain, chains, KEY, OTHER_KEY, outside, TOKEN, TREASURY, TREASURY_KEY } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "farebox-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("readConfig without any setting", () => {
  it("is the local deployment on port 4020", () => {
    expect(readConfig({ HOME: "/home/somebody", PATH: "/bin" })).toEqual({
      port: 4020,
      metricsPort: 0,
      metricsHost: "127.0.0.1",
      dataDir: ".farebox",
      baseUrl: "http://127.0.0.1:4020",
      role: "all",
      rateLimits: "on",
      trustedProxyHops: 0,
      logLevel: "info",
      mcpHosts: [],
      mcpOrigins: [],
      smtpUrl: null,
      mailFrom: "no-reply@localhost",
      outside: null,
      warnings: [],
    });
  });

  it("takes an empty value for none: shells and containers set those", () => {
    const names = ["PORT", "DATABASE_URL", "FAREBOX_CHAINS", "FAREBOX_DATA", "ROLE", "FAREBOX_SIGNER_KEYS"];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ""])))).toEqual(readConfig({}));
  });
});

describe("readConfig with everything set", () => {
  it("reads each setting", () => {
    const config = readConfig({
      ...outside,
      PORT: "8080",
      METRICS_PORT: "9090",
      METRICS_HOST: "0.0.0.0",
      FAREBOX_DATA: "/srv/farebox",
      FAREBOX_BASE_URL: "https://pay.example/",
      ROLE: "worker",
      FAREBOX_RATE_LIMITS: "off",
      FAREBOX_TRUSTED_PROXIES: "1",
      LOG_LEVEL: "warn",
      FAREBOX_MCP_HOSTS: "Pay.Internal, [fd00::1]",
      FAREBOX_MCP_ORIGINS: "chat.example,",
      SMTP_URL: "smtp://user:pa%20ss@mail.example:2525",
      FAREBOX_MAIL_FROM: "billing@pay.example",
      FAREBOX_SIGNER_KEYS: ` ${KEY} , ${OTHER_KEY},`,
      FAREBOX_TREASURY_KEY: TREASURY_KEY,
    });
    expect(config).toMatchObject({
      port: 8080,
      metricsPort: 9090,
      metricsHost: "0.0.0.0",
      dataDir: "/srv/farebox",
      baseUrl: "https://pay.example",
      role: "worker",
      rateLimits: "off",
      trustedProxyHops: 1,
      logLevel: "warn",
      mcpHosts: ["pay.internal", "[fd00::1]"],
      mcpOrigins: ["chat.example"],
      smtpUrl: "smtp://user:pa%20ss@mail.example:2525",
      mailFrom: "billing@pay.example",
      outside: {
        databaseUrl: outside.DATABASE_URL,
        signerKeys: [KEY, OTHER_KEY.toLowerCase()],
        treasuryKey: TREASURY_KEY.toLowerCase(),
        masterSecret: outside.FAREBOX_MASTER_SECRET,
      },
    });
    expect(config.outside?.chains).toMatchObject([
      { slug: "local", chainId: 31337, isLocal: true, treasury: TREASURY.toLowerCase(), router: null },
    ]);
  });

  it("reads a chain's router", () => {
    const config = readConfig({ ...outside, FAREBOX_CHAINS: chains({ router: TOKEN }) });
    expect(config.outside?.chains[0]?.router).toBe(TOKEN.toLowerCase());
  });

  it("names itself after its port unless told otherwise, and has no treasury key unless given one", () => {
    const config = readConfig({ ...outside, PORT: "8080" });
    expect([config.baseUrl, config.outside?.treasuryKey]).toEqual(["http://127.0.0.1:8080", null]);
  });

  it("is known by its public URL in the form that URLs are found again", () => {
    for (const FAREBOX_BASE_URL of ["https://Pay.Example", "HTTPS://pay.example:443/"])
      expect(readConfig({ FAREBOX_BASE_URL }).baseUrl).toBe("https://pay.example");
  });

  it.each([
    ["https://pay.example:8443/", "no-reply@pay.example"],
    ["http://192.0.2.7:4020", "no-reply@localhost"],
    ["http://[::1]:4020", "no-reply@localhost"],
  ])("sends mail from its own host: %s has %s", (FAREBOX_BASE_URL, from) => {
    expect(readConfig({ FAREBOX_BASE_URL }).mailFrom).toBe(from);
  });

  it("warns of what is left out and missed: the public URL of real money, the key that lets money leave, the way out for mail", () => {
    const real = JSON.stringify([{ ...chain, slug: "base", chainId: 8453, assets: undefined }]);
    const warned = (env: object) => readConfig({ ...outside, ...env }).warnings;
    expect(warned({ FAREBOX_CHAINS: real, PORT: "8080" })).toEqual([
      expect.stringMatching(
        /^FAREBOX_BASE_URL is not set: .* http:\/\/127\.0\.0\.1:8080, which lead nowhere/,
      ),
      expect.stringMatching(/^FAREBOX_TREASURY_KEY is not set: refunds, payouts and returns wait/),
      expect.stringMatching(/^SMTP_URL is not set: mails become files in the data folder/),
    ]);
    expect(warned({ ROLE: "web" })).toEqual([]);
    const set = {
      FAREBOX_TREASURY_KEY: TREASURY_KEY,
      FAREBOX_BASE_URL: "https://pay.example",
      SMTP_URL: "smtps://mail.example",
    };
    expect(warned({ ...set, FAREBOX_CHAINS: real })).toEqual([]);
  });

  it("reads the chains from a file as well", () => {
    const path = join(folder, "chains.json");
    writeFileSync(path, outside.FAREBOX_CHAINS);
    expect(readConfig({ ...outside, FAREBOX_CHAINS: path })).toEqual(readConfig(outside));
  });

  it("takes a URL of either name of the protocol", () => {
    const DATABASE_URL = "postgresql://db.example/farebox";
    expect(readConfig({ ...outside, DATABASE_URL }).outside?.databaseUrl).toBe(DATABASE_URL);
  });
});

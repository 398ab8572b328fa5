/** The service on a database and a chain that somebody else runs. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { freePort } from "../../src/dev/free-port.ts";
import { atPort, databaseAt } from "../support/database-at.ts";
import { type DevChain, masterSecret, startDevChain } from "../support/dev-chain.ts";
import { startFakeNode } from "../support/fake-node.ts";
import { until } from "../support/house.ts";
import {
  call,
  dataFolder,
  exists,
  farebox,
  killAll,
  metricsUrlOf,
  type Process,
  startService,
} from "./service.ts";

/** No sandbox: the drain pause counts. */
const CHAIN_ID = 84_532;
let dev: DevChain;
let folder: Awaited<ReturnType<typeof dataFolder>>;
let databaseUrl = "";
let settings: Record<string, string> = {};

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  folder = await dataFolder();
  dev = await startDevChain({ chainId: CHAIN_ID, blockTimeSeconds: 1 });
  const name = `outside_${randomBytes(6).toString("hex")}`;
  await query(inject("databaseUrl"), `CREATE DATABASE ${name}`);
  databaseUrl = databaseAt(inject("databaseUrl"), name);
  settings = {
    PORT: String(await freePort()),
    FAREBOX_DATA: folder.dataDir,
    DATABASE_URL: databaseUrl,
    FAREBOX_CHAINS: JSON.stringify([dev.config]),
    FAREBOX_SIGNER_KEYS: dev.contracts.signers[0]?.privateKey ?? "",
    FAREBOX_MASTER_SECRET: masterSecret,
  };
});
afterAll(async () => {
  await killAll();
  await query(inject("databaseUrl"), `DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`);
  await dev.stop();
  await folder.remove();
});

describe("a service on outside parts", () => {
  let service: Process;
  let baseUrl = "";

  it("migrates that database, serves that chain, and starts no parts of its own", async () => {
    service = startService(settings);
    baseUrl = `http://127.0.0.1:${settings.PORT}`;
    await service.says("is ready at");
    expect((await call(`${baseUrl}/health/ready`)).status).toBe(200);
    const { body } = await call(`${baseUrl}/x402/supported`);
    expect(body.kinds).toContainEqual(
      expect.objectContaining({ x402Version: 2, scheme: "exact", network: `eip155:${CHAIN_ID}` }),
    );
    const roles = await query(
      databaseUrl,
      "SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'farebox-%' AND datname = current_database() ORDER BY 1",
    );
    expect(roles).toEqual(expect.arrayContaining([{ name: "farebox-loops" }, { name: "farebox-requests" }]));
    expect(await exists(folder.dataDir)).toBe(false);
    expect(service.stdout()).not.toMatch(/sk_|postgres:/);
  });

  it("has its lane's gas in the books, read from that chain", async () => {
    const lane = `farebox_lane_held{chain="${dev.config.slug}",lane="${dev.lane}"} 1`;
    await until(
      async () => (await (await fetch(metricsUrlOf(service))).text()).includes(lane),
      "the lane is held",
    );
    const { code, stdout } = await farebox(settings, "trial-balance");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^ETH@${dev.config.slug} +100\\.0{18} .* asset:gas:${dev.config.slug}$`, "m"),
    );
  });

  it("is unready for a while before it ends, so that a load balancer notices; and leaves the parts to their owner", async () => {
    const began = performance.now();
    service.signal("SIGTERM");
    await until(async () => (await call(`${baseUrl}/health/ready`)).status === 503, "it says that it drains");
    expect((await call(`${baseUrl}/health`)).status).toBe(200);
    const { code } = await service.ended;
    expect(code).toBe(0);
    expect(performance.now() - began).toBeGreaterThan(4_000);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await dev.anvil.rpc("eth_chainId")).toBe("0x14a34");
    const held = await query(databaseUrl, "SELECT lease_holder FROM signer");
    expect(held).toEqual([{ lease_holder: null }]);
  });

  it("serves when nobody reads what it says", async () => {
    const unheard = startService(settings);
    unheard.child.stdout?.destroy();
    await until(async () => {
      if (unheard.child.exitCode !== null) throw new Error((await unheard.ended).stderr);
      return (await call(`${baseUrl}/health/ready`).catch(() => null))?.status === 200;
    }, "it is ready");
    expect(unheard.child.exitCode).toBeNull();
    unheard.signal("SIGKILL");
    await unheard.ended;
  });
});

describe("a start on outside parts that cannot be", () => {
  it("is one line that says what to set, exit 1, within ten seconds", async () => {
    const silent = await startFakeNode(() => new Promise(() => {}));
    onTestFinished(silent.stop);
    const changed = (url: string, change: (at: URL) => void) => {
      const at = new URL(url);
      change(at);
      return at.href;
    };
    const chains = (change: object) => JSON.stringify([{ ...dev.config, ...change }]);
    const cases: readonly (readonly [set: Record<string, string>, says: RegExp])[] = [
      [
        { DATABASE_URL: atPort(databaseUrl, 1) },
        /^The database of DATABASE_URL cannot be used \(ECONNREFUSED: connect ECONNREFUSED [^)]+\)\. Set DATABASE_URL to a PostgreSQL that runs/,
      ],
      [
        { DATABASE_URL: changed(databaseUrl, (at) => Object.assign(at, { password: "guess" })) },
        /^The database of DATABASE_URL cannot be used \(28P01: password authentication failed for user "farebox"\)/,
      ],
      [
        { FAREBOX_CHAINS: chains({ rpcUrls: ["http://127.0.0.1:1/v2/rpc-secret"] }) },
        new RegExp(`^The chain ${dev.config.slug} does not answer .*Set its rpcUrls in FAREBOX_CHAINS`),
      ],
      [
        { FAREBOX_CHAINS: chains({ rpcUrls: [`${silent.url}/v2/rpc-secret`] }) },
        new RegExp(`^The chain ${dev.config.slug} does not answer .*Set its rpcUrls in FAREBOX_CHAINS`),
      ],
      [
        { FAREBOX_CHAINS: chains({ slug: "other", chainId: 4_242, blockTimeSeconds: 1 }) },
        /FAREBOX_CHAINS, other: .*84532.*4242|FAREBOX_CHAINS, other: .*4242.*84532/,
      ],
      [{ FAREBOX_SIGNER_KEYS: "" }, /^FAREBOX_SIGNER_KEYS must hold the private keys that pay gas/],
    ];
    // A port each: all look at once whether it is free, and who looks holds it for that moment.
    const ports = await Promise.all(cases.map(() => freePort()));
    const ends = await Promise.all(
      cases.map(([set], index) => startService({ ...settings, ...set, PORT: String(ports[index]) }).ended),
    );
    for (const [index, { code, stdout, stderr, ms }] of ends.entries()) {
      const lines = stderr.trimEnd().split("\n");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(lines.filter((line) => !line.startsWith("{"))).toEqual([
        expect.stringMatching(cases[index]?.[1] ?? /never/),
      ]);
      expect(stderr).not.toMatch(/rpc-secret|guess|postgres:|^\s+at /m);
      // beyond what any start takes, which is a lot when six start at once
      expect(ms - (ends.at(-1)?.ms ?? 0)).toBeLessThan(8_000);
    }
  });
});

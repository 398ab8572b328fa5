/** The local deployment as people start, stop, kill and start it again. */
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createPublicClient, erc20Abi, http, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../src/dev/free-port.ts";
import { masterSecret } from "../../src/dev/master-secret.ts";
import { rpc } from "../../src/dev/rpc.ts";
import { deriveKey } from "../../src/keys.ts";
import { until } from "../support/house.ts";
import {
  allLogs,
  answers,
  booksOf,
  call,
  type Deployment,
  dataFolder,
  exists,
  farebox,
  isGasBooked,
  killAll,
  runningParts,
  type SentPayment,
  signedPayment,
  startDeployment,
  startService,
} from "./service.ts";

let folder: Awaited<ReturnType<typeof dataFolder>>;
let service: Deployment;
const payments: SentPayment[] = [];
/** What must not be told. */
const secrets: string[] = [];
const addresses = { address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) };

beforeAll(async () => {
  allLogs.length = 0; // files of one worker share it
  folder = await dataFolder();
  service = await startDeployment(folder.dataDir);
  const secret = await masterSecret(folder.dataDir);
  const labels = [
    "signer:0",
    "signer:1",
    "signer:2",
    "signer:3",
    "treasury",
    "deployer",
    "payer",
    "operator",
  ] as const;
  secrets.push(secret, ...labels.map((label) => deriveKey(secret, label)));
});
afterAll(async () => {
  await killAll();
  await folder.remove();
});

const isFinal = async (statusUrl: string) => (await call(statusUrl)).body.status === "final";

describe("a start on nothing", () => {
  it("writes dev.json of exactly the promised shape, for its owner only", async () => {
    const { dev } = service;
    const someAddress = addresses.address;
    expect(dev).toEqual({
      baseUrl: `http://127.0.0.1:${service.env.PORT}`,
      merchantId: expect.stringMatching(/^mer_[0-9A-Z]{26}$/),
      secretKey: expect.stringMatching(/^sk_[0-9A-Za-z]{50}$/),
      publishableKey: expect.stringMatching(/^pk_[0-9A-Za-z]{50}$/),
      chain: {
        network: "eip155:31337",
        slug: "local",
        rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        treasury: someAddress,
        assets: { USDC: someAddress, EURC: someAddress, USDG: someAddress },
      },
      databaseUrl: expect.stringMatching(/^postgres:\/\/farebox:[0-9a-f]{64}@127\.0\.0\.1:\d+\/farebox$/),
      payer: { address: someAddress, privateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    });
    expect((await stat(join(folder.dataDir, "dev.json"))).mode & 0o777).toBe(0o600);
  });

  it("gives the payer a million of each token and a hundred of gas", async () => {
    const { chain, payer } = service.dev;
    const client = createPublicClient({ transport: http(chain.rpcUrl) });
    const account = payer.address as `0x${string}`;
    for (const token of Object.values(chain.assets) as `0x${string}`[]) {
      const held = { address: token, abi: erc20Abi, functionName: "balanceOf", args: [account] } as const;
      expect(await client.readContract(held)).toBe(1_000_000_000_000n);
    }
    expect(await client.getBalance({ address: account })).toBe(parseEther("100"));
  });

  it("answers whether it is alive and ready", async () => {
    const { baseUrl } = service.dev;
    expect(await call(`${baseUrl}/health`)).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await call(`${baseUrl}/health/ready`)).toMatchObject({
      status: 200,
      body: {
        status: "ready",
        checks: { database: "ok", draining: false, refusedRails: [], refusedRouters: [] },
      },
    });
  });

  it("lists its lanes as the ones that sign, to an operator too", async () => {
    const { code, stdout } = await farebox({ FAREBOX_DATA: folder.dataDir }, "lanes", "list");
    expect([code, stdout.match(/^local .*$/gm)]).toEqual([
      0,
      Array(4).fill(expect.stringContaining("  active  ")),
    ]);
  });

  it("says where everything is", () => {
    const { dev, metricsUrl } = service;
    for (const word of [dev.baseUrl, dev.secretKey, dev.chain.rpcUrl, dev.databaseUrl, metricsUrl])
      expect(service.stdout()).toContain(word);
  });
});

describe("a payment", () => {
  it("goes through, becomes final, and is in the books", async () => {
    const payment = await signedPayment(service.dev);
    payments.push(payment);
    const settled = await payment.settle();
    expect(settled).toMatchObject({ status: 200, body: { success: true } });
    await until(() => isFinal(settled.body.extra.statusUrl), "the payment is final");
    expect(await booksOf(service.dev)).toMatchObject({
      "asset:treasury:local USDC@local": [10_000n, 0n],
      [`liability:merchant:${service.dev.merchantId}:available USDC@local`]: [9_950n, 0n],
      "income:fees USDC@local": [50n, 0n],
    });
    const reconciled = await farebox({ FAREBOX_DATA: folder.dataDir }, "reconcile");
    expect(reconciled).toMatchObject({ code: 0, stderr: "" });
    expect(reconciled.stdout).toMatch(/^USDC@local .* equal$/m);
  });

  it("shows in the metrics, with everything an operator watches beside it", async () => {
    const text = await (await fetch(service.metricsUrl)).text();
    const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const name of watched) expect(names).toContain(name);
    const values = Object.fromEntries(
      [...text.matchAll(/^(farebox_.+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
    );
    expect(values).toMatchObject({
      'farebox_settlements_total{outcome="settled",reason="none"}': 1,
      'farebox_batches_total{chain="local"}': 1,
      'farebox_batch_items_total{chain="local"}': 1,
      'farebox_stage_seconds_count{stage="include"}': 1,
      'farebox_ledger_imbalance{asset="USDC@local"}': 0,
      'farebox_ledger_imbalance{asset="ETH@local"}': 0,
      'farebox_chain_halted{chain="local"}': 0,
      'farebox_chain_height{chain="local",kind="final"}': expect.any(Number),
      'farebox_database_connections{pool="requests",kind="waiting"}': 0,
      'farebox_database_connections{pool="loops",kind="waiting"}': 0,
      'farebox_chain_head_lag_blocks{chain="local"}': expect.any(Number),
      'farebox_chain_fee_per_gas_wei{chain="local",kind="cap"}': 500e9,
      'farebox_chain_fee_per_gas_wei{chain="local",kind="now"}': expect.any(Number),
      farebox_outbox_dead: 0,
      farebox_outbox_undelivered: expect.any(Number),
      'farebox_mails{state="queued"}': 0,
      'farebox_mails{state="failed"}': 0,
      farebox_native_curve: 1,
    });
    expect(Object.keys(values).filter((name) => name.startsWith("farebox_lane_held{"))).toHaveLength(4);
    const runways = Object.keys(values).filter((name) => name.startsWith("farebox_lane_gas_runway_seconds{"));
    expect(runways).toHaveLength(1); // of the one lane that has sent something
    expect((await fetch(new URL("/other", service.metricsUrl))).status).toBe(404);
  });
});

const watched = [
  "farebox_settlements_total",
  "farebox_verifications_total",
  "farebox_batches_total",
  "farebox_batch_items_total",
  "farebox_replacements_total",
  "farebox_reversals_total",
  "farebox_unmatched_total",
  "farebox_loop_errors_total",
  "farebox_stage_seconds",
  "farebox_rpc_seconds",
  "farebox_open_claims",
  "farebox_open_claim_oldest_seconds",
  "farebox_lane_open_slots",
  "farebox_lane_active",
  "farebox_lane_held",
  "farebox_lane_low_on_gas",
  "farebox_chain_height",
  "farebox_chain_halted",
  "farebox_chain_head_lag_blocks",
  "farebox_chain_fee_per_gas_wei",
  "farebox_lane_gas_runway_seconds",
  "farebox_failed_items_total",
  "farebox_wasted_gas_wei_total",
  "farebox_gas_refusals_total",
  "farebox_gas_budget_used",
  "farebox_disagreements_total",
  "farebox_ledger_imbalance",
  "farebox_outbox_undelivered",
  "farebox_outbox_oldest_seconds",
  "farebox_outbox_dead",
  "farebox_mails",
  "farebox_mail_oldest_seconds",
  "farebox_database_connections",
  "farebox_native_curve",
  "nodejs_eventloop_lag_seconds",
];

describe("a start that cannot be", () => {
  it("is one line that tells what to do, exit 1, and does not disturb the service that runs", async () => {
    const before = await readFile(join(folder.dataDir, "dev.json"), "utf8");
    const other = await dataFolder();
    onTestFinished(other.remove);
    const { PORT } = service.env;
    const taken = createServer();
    await new Promise<void>((resolve) => void taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const metricsPort = String((taken.address() as { port: number }).port);
    const FAREBOX_DATA = other.dataDir;
    const cases: [Record<string, string>, RegExp][] = [
      // on the very folder of the running service: the port is asked first, the folder second
      [
        { PORT: PORT ?? "", FAREBOX_DATA: folder.dataDir },
        new RegExp(`^Port ${PORT} is taken\\. .*set PORT to another`),
      ],
      [
        { PORT: "4", FAREBOX_DATA: folder.dataDir, METRICS_PORT: metricsPort },
        /^Port \d+ is taken\. .*set METRICS_PORT/,
      ],
      [
        { PORT: String(await freePort()), FAREBOX_DATA: folder.dataDir },
        new RegExp(`is in use by process ${service.pid}$`),
      ],
      [{ FAREBOX_X: "1", FAREBOX_DATA }, /^FAREBOX_X is not a setting of Farebox\. Known: /],
      [
        { DATABASE_URL: "postgres://localhost/x", FAREBOX_DATA },
        /^DATABASE_URL is set and FAREBOX_CHAINS is not/,
      ],
    ];
    const ends = await Promise.all(cases.map(([env]) => startService(env).ended));
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr.trimEnd()).toMatch(cases[index]?.[1] ?? /never/);
      expect(stderr.trimEnd()).not.toContain("\n");
    }
    expect(await exists(other.dataDir)).toBe(false);
    expect(await readFile(join(folder.dataDir, "dev.json"), "utf8")).toBe(before);
    expect((await call(`${service.dev.baseUrl}/health/ready`)).status).toBe(200);
  });
});

describe("a second deployment on a folder of its own", () => {
  it("stops half-started when it is told to, at any point, and leaves nothing running", async () => {
    const other = await dataFolder();
    onTestFinished(other.remove);
    const env = { FAREBOX_DATA: other.dataDir, PORT: String(await freePort()) };
    const points = [
      (starting: ReturnType<typeof startService>) => starting.says("making the PostgreSQL database"),
      () => until(() => exists(join(other.dataDir, "chain.json")), "the chain is being started"),
    ];
    for (const point of points) {
      const starting = startService(env);
      await point(starting);
      const began = performance.now();
      starting.signal("SIGTERM");
      const { code, stderr } = await starting.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(await runningParts(other.dataDir)).toEqual([]);
      expect(await exists(join(other.dataDir, "dev.json"))).toBe(false);
    }
  });

  it("does not meet the first one, ends by Ctrl-C with all it started, and a second signal changes nothing", async () => {
    const other = await dataFolder();
    onTestFinished(other.remove);
    const second = await startDeployment(other.dataDir);
    const { dev } = second;
    for (const key of ["baseUrl", "secretKey", "databaseUrl"] as const)
      expect(dev[key]).not.toBe(service.dev[key]);
    expect(dev.chain.treasury).not.toBe(service.dev.chain.treasury);
    expect(Object.keys(await booksOf(dev)).filter((name) => name.endsWith("USDC@local"))).toEqual([]);
    expect(await runningParts(other.dataDir)).toEqual(["chain", "postgres", "provider"]);
    const began = performance.now();
    second.signal("SIGINT");
    second.signal("SIGTERM");
    second.signal("SIGINT");
    const { code } = await second.ended;
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await runningParts(other.dataDir)).toEqual([]);
    expect([await answers(dev.chain.rpcUrl), await answers(dev.databaseUrl)]).toEqual([false, false]);
    expect(await exists(join(other.dataDir, "dev.json"))).toBe(false);
    expect(await runningParts(folder.dataDir)).toEqual(["chain", "postgres", "provider"]);
    expect((await call(`${service.dev.baseUrl}/health/ready`)).status).toBe(200);
  });
});

describe("SIGTERM while a settle waits", () => {
  let pending: SentPayment;

  it("answers it settlement_pending and ends at exit 0 within ten seconds, though its connection is kept alive", async () => {
    pending = await signedPayment(service.dev);
    payments.push(pending);
    await rpc(service.dev.chain.rpcUrl, "anvil_setIntervalMining", [0]); // no block will come
    const waiting = pending.settle();
    await until(async () => {
      const [, open] = /^farebox_open_claims\{state="submitting"\} (\d)/m.exec(
        await (await fetch(service.metricsUrl)).text(),
      ) ?? [undefined, "0"];
      return open === "1";
    }, "the payment has been sent");
    const began = performance.now();
    service.signal("SIGTERM");
    const answer = await waiting;
    expect(answer).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "settlement_pending", transaction: expect.stringMatching(/^0x/) },
    });
    const { code } = await service.ended;
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await runningParts(folder.dataDir)).toEqual([]);
    expect(await exists(join(folder.dataDir, "dev.json"))).toBe(false);
  });

  it("loses nothing: the next start has the same keys, contracts and books, and the payment arrives", async () => {
    const before = service.dev;
    service = await startDeployment(folder.dataDir, { PORT: service.env.PORT ?? "" });
    const { chain, databaseUrl, ...rest } = service.dev;
    const { chain: chainBefore, databaseUrl: databaseBefore, ...restBefore } = before;
    expect(rest).toEqual(restBefore);
    expect({ ...chain, rpcUrl: "" }).toEqual({ ...chainBefore, rpcUrl: "" });
    expect(new URL(databaseUrl).password).toBe(new URL(databaseBefore).password);
    const again = await pending.settle();
    expect(again.body).toMatchObject({ success: true, payer: service.dev.payer.address });
    await until(() => isFinal(again.body.extra.statusUrl), "the payment is final");
    expect(await booksOf(service.dev)).toMatchObject({ "asset:treasury:local USDC@local": [20_000n, 0n] });
  });
});

describe("a kill -9 of the service alone", () => {
  it("leaves its parts, and the next start takes them over: same dev.json, same books", async () => {
    await until(() => isGasBooked(service.dev), "the gas of its payments is booked");
    const before = { dev: service.dev, books: await booksOf(service.dev) };
    service.signal("SIGKILL");
    await service.ended;
    const parts = () => runningParts(folder.dataDir);
    await until(async () => !(await parts()).includes("provider"), "the provider sees that it is alone");
    expect(await parts()).toEqual(["chain", "postgres"]);
    service = await startDeployment(folder.dataDir, { PORT: service.env.PORT ?? "" });
    expect({ dev: service.dev, books: await booksOf(service.dev) }).toEqual(before);
  });
});

describe("reset", () => {
  it("refuses while the service runs, and clears the folder when it has ended", async () => {
    const refused = await farebox({ FAREBOX_DATA: folder.dataDir }, "reset");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`in use by process ${service.pid}`),
    });
    service.signal("SIGTERM");
    expect((await service.ended).code).toBe(0);
    const done = await farebox({ FAREBOX_DATA: folder.dataDir }, "reset");
    expect(done).toMatchObject({ code: 0, stdout: `removed ${folder.dataDir}\n`, stderr: "" });
    expect(await exists(folder.dataDir)).toBe(false);
  });
});

describe("what all of them logged", () => {
  it("is JSON lines, or the one line of a start that could not be", () => {
    const lines = allLogs.join("").split("\n").filter(Boolean);
    expect(lines.length).toBeGreaterThan(5);
    const others = lines.filter((line) => !line.startsWith("{"));
    for (const line of others) expect(line).toMatch(/^(Port|FAREBOX_X|DATABASE_URL|\/)/);
    for (const line of lines.filter((line) => line.startsWith("{")))
      expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String), level: expect.any(Number) });
  });

  it("holds no key, signature, password or connection string", () => {
    const { secretKey, publishableKey, payer, databaseUrl } = service.dev;
    secrets.push(secretKey, publishableKey, payer.privateKey, new URL(databaseUrl).password);
    secrets.push(...payments.map(({ signature }) => signature));
    const text = allLogs.join("");
    for (const secret of secrets) expect(text).not.toContain(secret.replace(/^0x/, ""));
    expect(text).not.toMatch(/sk_[0-9A-Za-z]{8}|postgres:\/\/|0x[0-9a-f]{130}|Bearer|params/i);
  });
});

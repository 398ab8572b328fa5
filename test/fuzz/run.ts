/** `npm run fuzz`: the local deployment, in a process of its own, under requests that nobody should send. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { repository, startChild } from "../../bench/child.ts";
import { buildPrograms } from "../../src/build.ts";
import { type DevJson, devJsonPath } from "../../src/dev/dev-json.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { isAlive } from "../../src/dev/processes.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import { agentShots } from "./agents.ts";
import { compareBooks } from "./books.ts";
import { fire } from "./gun.ts";
import { idsOf } from "./ids.ts";
import { leastHeaps, rssOf, TELLS_OF_COLLECTIONS } from "./memory.ts";
import { fireRaw } from "./raw.ts";
import { tallyText } from "./report.ts";
import { type OpenApi, routeShots } from "./routes.ts";
import { toolsOf } from "./tools.ts";

const usage = `npm run fuzz [-- options]
  --requests N     how many, default 100000
  --seconds N      or for how long at most
  --seed N         the same seed makes the same requests; default 1
  --concurrency N  at once, default 64
  --raw N          broken requests, byte by byte, on connections of their own; default 500
  --port N         of the service; a free one when left out
  --only TEXT      routes whose name holds it`;

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seconds: { type: "string", default: "86400" },
    seed: { type: "string", default: "1" },
    concurrency: { type: "string", default: "64" },
    raw: { type: "string", default: "500" },
    port: { type: "string" },
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const rssEveryMs = 10_000;
const heapEverySeconds = 60;
/** In a long run, after so many looks at the memory. */
const saysEvery = 30;
const stops: (() => Promise<void>)[] = [];

async function startDeployment() {
  const dataDir = await mkdtemp(join(tmpdir(), "farebox-fuzz-"));
  stops.push(async () => {
    await resetDataFolder({ dataDir, say: () => {} }); // stops parts that a failed start left behind
    await rm(dataDir, { recursive: true, force: true });
  });
  await chmod(dataDir, 0o755); // or a part that runs as another user cannot work in it
  const port = Number(values.port ?? (await freePort()));
  const env = { FAREBOX_DATA: dataDir, PORT: String(port), FAREBOX_RATE_LIMITS: "off", LOG_LEVEL: "error" };
  const logFile = join(dataDir, "service.log");
  const readyUrl = `http://127.0.0.1:${port}/health/ready`;
  await buildPrograms(); // of the parts beside it
  const program = { name: "farebox", args: ["src/main.ts"], nodeOptions: TELLS_OF_COLLECTIONS };
  const child = await startChild({
    ...program,
    env,
    readyUrl,
    logFile,
    home: dataDir,
    readyWithinMs: 600_000,
  });
  stops.push(child.stop);
  const cli = async (...args: readonly string[]) => {
    const run = promisify(execFile)(process.execPath, ["--import", "tsx", "src/cli.ts", ...args], {
      cwd: repository,
      env: { PATH: "/usr/bin:/bin", ...env },
    });
    return (await run).stdout;
  };
  const dev = await devJson(dataDir);
  return { dev, pid: child.pid, cli, logFile };
}

/** Written a moment after the service is ready. */
async function devJson(dataDir: string): Promise<DevJson> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const text = await readFile(devJsonPath(dataDir), "utf8").catch(() => null);
    if (text !== null) return JSON.parse(text) as DevJson;
    if (performance.now() > deadline) throw new Error("the deployment wrote no dev.json");
    await sleep(100);
  }
}

async function run(): Promise<number> {
  const { dev, pid, cli, logFile } = await startDeployment();
  const { baseUrl, secretKey: secret, publishableKey: publishable } = dev;
  const foreign =
    (await cli("keys", "create", "--new-merchant", "Stranger", "--city", "Nowhere", "--country", "US"))
      .trimEnd()
      .split("\n")
      .at(-1) ?? "";
  const keys = { secret, publishable, foreign };
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApi;
  const all = [...routeShots(document, keys), ...agentShots(await toolsOf(baseUrl), keys)];
  const shots = new Map(all.filter(([route]) => route.includes(values.only)));
  const curve = [await rssOf(pid)];
  let fired = 0;
  const watch = setInterval(async () => {
    const mb = await rssOf(pid);
    curve.push(mb);
    if (curve.length % saysEvery === 0)
      say(`${curve.length * (rssEveryMs / 1_000)} s, ${fired} requests, ${mb} MB`);
  }, rssEveryMs);
  const tally = await fire({
    baseUrl,
    shots,
    seed: Number(values.seed),
    requests: Number(values.requests),
    seconds: Number(values.seconds),
    concurrency: Number(values.concurrency),
    spared: await idsOf(baseUrl, keys),
    told: (count) => {
      fired = count;
    },
  });
  clearInterval(watch);
  say(tallyText(tally));
  const raw = await fireRaw(baseUrl, { count: Number(values.raw), seed: Number(values.seed) });
  say(
    `raw: ${[...raw]
      .sort()
      .map(([status, count]) => `${status}: ${count}`)
      .join(", ")}`,
  );
  say(`memory, MB every ${rssEveryMs / 1_000} s: ${curve.join(" ")}`);
  const log = await readFile(logFile, "utf8");
  say(
    `its heap, the least MB of every ${heapEverySeconds} s: ${leastHeaps(log, heapEverySeconds).join(" ")}`,
  );
  const isUp = (await isAlive(pid)) && (await fetch(`${baseUrl}/health/ready`)).ok;
  say(isUp ? "the service is up" : `the service is down:\n${log.slice(-4_000)}`);
  const books = await compareBooks(cli);
  say(`books against chain:\n${books.text}`);
  for (const [what, { times, first }] of errorsIn(await readFile(logFile, "utf8")))
    say(`${times} times in the log: ${what}\n  ${first.slice(0, 2_000)}`);
  const isRaw = [...raw.keys()].some((status) => status.startsWith("5"));
  return tally.found.length === 0 && !isRaw && isUp && books.areEqual ? 0 : 1;
}

/** What the log calls errors, by what they say. */
function errorsIn(log: string) {
  const found = new Map<string, { times: number; readonly first: string }>();
  for (const line of log.split("\n").filter((text) => /"level":"?(error|50|60)/.test(text))) {
    const what = /"msg":"([^"]*)"/.exec(line)?.[1] ?? "";
    const known = found.get(what);
    if (known) known.times += 1;
    else found.set(what, { times: 1, first: line });
  }
  return found;
}

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop().catch((error: unknown) => say(String(error)));
}

for (const name of ["SIGINT", "SIGTERM"] as const)
  process.once(name, () => void stopAll().then(() => process.exit(130)));

if (values.help) {
  say(usage);
} else {
  run()
    .catch((error: unknown) => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return 1;
    })
    .then(async (code) => {
      await stopAll();
      process.exit(code);
    });
}

/** `npm run bench:processes`: the same settles on one process, on one web and one worker, and on two of each. */
import { cpuSeconds } from "./cpu.ts";
import { type Service, sell, startService } from "./farebox-server.ts";
import { type Judge, type LoadResult, percentile, runLoad } from "./load.ts";
import { Purse } from "./payments.ts";
import { type Session, session } from "./session.ts";

const SECONDS = 20;
const CONCURRENCY = 256;
const SETTLES = 4_096;
const LANES = 2;

const layouts = {
  "1 process": ["all"],
  "1 web, 1 worker": ["web", "worker"],
  "2 web, 2 workers": ["web", "web", "worker", "worker"],
} as const;

const isSettled: Judge = (status, body) =>
  status === 200 && body.includes('"success":true') ? null : `${status} not settled`;

interface Measured {
  readonly results: readonly LoadResult[];
  readonly cpu: readonly number[];
}

async function measure(
  { ground, stops }: Session,
  roles: readonly ("all" | "web" | "worker")[],
  purse: Purse,
): Promise<Measured> {
  const services: Service[] = [];
  // workers first: the web is ready when somebody follows the chain
  for (const role of [...roles].reverse()) {
    const service = await startService(ground, { signers: LANES, profileDir: undefined, role });
    stops.push(service.child.stop);
    services.push(service);
  }
  const [web] = services.filter(({ env }) => env.ROLE !== "worker");
  if (!web) throw new Error("nobody answers");
  const { settlePath: path, offer } = await sell(
    web,
    `Bench ${services.map(({ child }) => child.pid).join(" ")}`,
  );
  const webs = services.filter(({ env }) => env.ROLE !== "worker");
  const load = (settles: number, seconds: number) =>
    Promise.all(
      webs.map(({ baseUrl }) =>
        runLoad({
          ...{ baseUrl, path, seconds, judge: isSettled, concurrency: CONCURRENCY / webs.length },
          bodies: purse.sign(settles / webs.length, offer),
        }),
      ),
    );
  await load(256, 10);
  const pids = services.map(({ child }) => child.pid);
  const before = await Promise.all(pids.map(cpuSeconds));
  const results = await load(SETTLES, SECONDS);
  const after = await Promise.all(pids.map(cpuSeconds));
  for (const { child } of services) await child.stop();
  return { results, cpu: after.map((seconds, i) => seconds - (before[i] ?? 0)) };
}

function row(name: string, { results, cpu }: Measured, first: number | null): string {
  const settled = results.reduce((sum, { succeeded }) => sum + succeeded, 0);
  const failed = results.reduce((sum, { answered, succeeded }) => sum + answered - succeeded, 0);
  const rate = settled / Math.max(...results.map(({ seconds }) => seconds));
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const ms = [0.5, 0.95].map((share) => percentile(latencies, share).toFixed(0));
  const busy = cpu.reduce((sum, each) => sum + each, 0);
  const ratio = first === null ? "1.00" : (rate / first).toFixed(2);
  return `| ${[name, rate.toFixed(0), ratio, ...ms, ((busy * 1_000) / settled).toFixed(2), failed].join(" | ")} |`;
}

await session({ payers: 16_384 }, async (given) => {
  const purse = new Purse(given.payers);
  const lines = [
    "| layout | settles per second | ratio | p50 ms | p95 ms | CPU s per 1,000, all our processes | failed |",
    "|---|--:|--:|--:|--:|--:|--:|",
  ];
  let first: number | null = null;
  for (const [name, roles] of Object.entries(layouts)) {
    given.say(name);
    const measured = await measure(given, roles, purse);
    lines.push(row(name, measured, first));
    const settled = measured.results.reduce((sum, { succeeded }) => sum + succeeded, 0);
    first ??= settled / Math.max(...measured.results.map(({ seconds }) => seconds));
  }
  return lines.join("\n");
});

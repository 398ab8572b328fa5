/** One measurement of one server, and how several of them add up. */
import { balanceOf, gasSpent, headNumber, type Spent } from "./chain-facts.ts";
import { cpuSeconds, familyCpuSeconds, quiet } from "./cpu.ts";
import { type Judge, type LoadResult, runLoad } from "./load.ts";
import type { Subject } from "./subject.ts";

/** Processes whose time is counted beside the server's own. */
export interface Neighbours {
  readonly rpcUrl: string;
  readonly chainPid: number;
  readonly postgresPid: number;
}

export interface Cpu {
  readonly server: number;
  readonly chain: number;
  readonly postgres: number;
}

export interface Sample {
  readonly succeeded: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  readonly failures: ReadonlyMap<string, number>;
  readonly cpu: Cpu;
  /** From the last answer until the server rested, by half seconds; 0 where nothing is left for after it. */
  readonly restSeconds: number;
  readonly spent: Spent;
}

export interface Shots {
  readonly bodies: readonly string[];
  readonly concurrency: number;
  readonly seconds: number;
}

const judgeVerify: Judge = (status, body) =>
  status === 200 && body.includes('"isValid":true') ? null : reasonOf(status, body, "invalidReason");
const judgeSettle: Judge = (status, body) =>
  status === 200 && body.includes('"success":true') ? null : reasonOf(status, body, "errorReason");

/** Verifies touch no chain state, so the clock stops with the last answer. */
export async function measureVerify(subject: Subject, shots: Shots, near: Neighbours): Promise<Sample> {
  const before = await cpuNow(subject, near);
  const result = await runLoad({ ...shots, ...target(subject, "verify") });
  const cpu = since(before, await cpuNow(subject, near));
  return { ...result, cpu, restSeconds: 0, spent: { gas: 0n, transactions: 0, reverted: 0 } };
}

const judgeTool: Judge = (status, body) =>
  status === 200 && body.includes('"structuredContent"') && !body.includes('"isError":true')
    ? null
    : `${status} not a tool's answer`;

/** Tool calls by MCP, as plain JSON-RPC over HTTP. */
export async function measureTools(subject: Subject, shots: Shots, near: Neighbours): Promise<Sample> {
  const before = await cpuNow(subject, near);
  const result = await runLoad({ ...shots, baseUrl: subject.baseUrl, path: "/x402/mcp", judge: judgeTool });
  const cpu = since(before, await cpuNow(subject, near));
  return { ...result, cpu, restSeconds: 0, spent: { gas: 0n, transactions: 0, reverted: 0 } };
}

/** Processor time is counted until the server rests, so that work left for after the answer counts, too; what the
 *  server calls settled must have reached the payee. */
export async function measureSettle(subject: Subject, shots: Shots, near: Neighbours): Promise<Sample> {
  const { asset, payTo, amount } = subject.offer.requirements;
  const { rpcUrl } = near;
  const after = await headNumber(rpcUrl);
  const had = await balanceOf(rpcUrl, asset, payTo);
  const before = await cpuNow(subject, near);
  const result = await runLoad({ ...shots, ...target(subject, "settle") });
  const answeredAt = performance.now();
  // Of the server alone: the node hashes its whole state for each block, also of nothing, and the more the longer it ran.
  await quiet([subject.child.pid]);
  const restSeconds = (performance.now() - answeredAt) / 1000;
  const cpu = since(before, await cpuNow(subject, near));
  const spent = await gasSpent(rpcUrl, { signers: subject.signers, after, last: await headNumber(rpcUrl) });
  const moved = Number(((await balanceOf(rpcUrl, asset, payTo)) - had) / BigInt(amount));
  return { ...result, cpu, restSeconds, spent, failures: withMissing(result, moved) };
}

export function sum(samples: readonly Sample[]): Sample {
  const failures = new Map<string, number>();
  for (const [reason, count] of samples.flatMap((sample) => [...sample.failures]))
    failures.set(reason, (failures.get(reason) ?? 0) + count);
  const total = (pick: (sample: Sample) => number) => samples.reduce((all, one) => all + pick(one), 0);
  return {
    succeeded: total(({ succeeded }) => succeeded),
    seconds: total(({ seconds }) => seconds),
    latenciesMs: samples.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b),
    failures,
    cpu: {
      server: total(({ cpu }) => cpu.server),
      chain: total(({ cpu }) => cpu.chain),
      postgres: total(({ cpu }) => cpu.postgres),
    },
    restSeconds: Math.max(...samples.map(({ restSeconds }) => restSeconds)),
    spent: {
      gas: samples.reduce((all, { spent }) => all + spent.gas, 0n),
      transactions: total(({ spent }) => spent.transactions),
      reverted: total(({ spent }) => spent.reverted),
    },
  };
}

function target(subject: Subject, verb: "verify" | "settle") {
  const { baseUrl } = subject;
  return verb === "verify"
    ? { baseUrl, path: subject.verifyPath, judge: judgeVerify }
    : { baseUrl, path: subject.settlePath, judge: judgeSettle };
}

function withMissing({ succeeded, failures }: LoadResult, moved: number): ReadonlyMap<string, number> {
  if (moved >= succeeded) return failures;
  return new Map([...failures, ["success answered, money not on chain", succeeded - moved]]);
}

function reasonOf(status: number, body: string, field: string): string {
  try {
    const answer = JSON.parse(body) as Record<string, unknown>;
    return `${status} ${String(answer[field] ?? answer.code ?? "no reason")}`;
  } catch {
    return `${status} not JSON`;
  }
}

async function cpuNow({ child }: Subject, { chainPid, postgresPid }: Neighbours): Promise<Cpu> {
  const [server, chain, postgres] = await Promise.all([
    cpuSeconds(child.pid),
    cpuSeconds(chainPid),
    familyCpuSeconds(postgresPid),
  ]);
  return { server, chain, postgres };
}

function since(before: Cpu, after: Cpu): Cpu {
  return {
    server: after.server - before.server,
    chain: after.chain - before.chain,
    postgres: after.postgres - before.postgres,
  };
}

/** `npm run bench`: our service and the reference facilitator on the same machine, chain and kind of payments, in turns. */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { peakMegabytes, quiet } from "./cpu.ts";
import { startFarebox } from "./farebox-server.ts";
import { postgresBuild } from "./ground.ts";
import { layGround } from "./lay.ts";
import { measureSettle, measureTools, measureVerify, type Neighbours, type Sample, sum } from "./measure.ts";
import { type Name, type Options, readOptions, usage } from "./options.ts";
import { fundPayers, makePayers } from "./payers.ts";
import { Purse } from "./payments.ts";
import { type Phase, profileClock, profileReport } from "./profile.ts";
import { startReference } from "./reference.ts";
import { failed, type Measured, type Report, report } from "./report.ts";
import type { Ground, Subject } from "./subject.ts";

const verifyConcurrency = 64;
const settleConcurrency = 512;
/** Atomic units: a thousand dollars, so that one payer alone could pay for a whole run. */
const eachPayerHas = 1_000_000_000n;

const began = performance.now();
const say = (line: string) => {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`${seconds} s  ${line}\n`);
};

/** Of our service, for the profile. */
const phases: Phase[] = [];
/** What was started; stopped last first. */
const stops: (() => Promise<void>)[] = [];

async function run(options: Options): Promise<Report> {
  const { payers: payerCount, signers, blockTimeSeconds, postgresBin } = options;
  const { ground, near, stop } = await layGround({ say, blockTimeSeconds, postgresBin });
  stops.push(stop);
  say(`paying ${options.payers} payers`);
  const payers = makePayers(options.payers);
  await fundPayers(payers, {
    rpcUrl: ground.rpcUrl,
    chainId: ground.chainId,
    token: ground.contracts.assets.USDC,
    aggregate3: ground.contracts.aggregate3,
    deployerKey: ground.contracts.deployer.privateKey,
    each: eachPayerHas,
  });
  const subjects = await startSubjects(ground, options);
  const [first] = subjects;
  if (!first) throw new Error("nothing to measure");
  const purse = new Purse(payers);
  const measured = await measureAll(subjects, { options, purse, near });
  const ours = subjects.find(({ name }) => name === "farebox");
  const tools = ours ? [await toolCalls(ours, near)] : [];
  const plain = subjects.length > 1 && ours ? await measureStock(ours, { ground, purse, near }) : null;
  const conditions = { blockTimeSeconds, payers: payerCount, signers, stock: plain?.stock ?? null };
  const build = `PostgreSQL ${await postgresBuild(ground.databaseUrl)}.`;
  const told = [...notes(options, subjects), build, ...tools, ...(plain ? [plain.note] : [])];
  return report(measured, { ...conditions, notes: told });
}

const settlesAtOnce = 64;

/** The reference as it comes, without the nonce manager that it has in the table: as many settles at the same time as one
 *  may get in a second, of it and of us; and the load of the table. */
async function measureStock(
  ours: Subject,
  { ground, purse, near }: { ground: Ground } & Omit<Work, "options">,
) {
  const theirs = await startReference(ground, ours.offer, "plain");
  stops.push(theirs.child.stop);
  const settles = async (subject: Subject, count: number, concurrency: number) => {
    const bodies = purse.sign(count, subject.offer);
    const sample = await measureSettle(subject, { bodies, concurrency, seconds: 60 }, near);
    const reasons = [...sample.failures].map(String).join("; ") || "no failure";
    say(`${subject.name}, ${concurrency} at once: ${sample.succeeded} of ${count}, ${reasons}`);
    return sample;
  };
  const lost = async (subject: Subject) => failed(await settles(subject, settlesAtOnce, settlesAtOnce));
  const note = `${settlesAtOnce} settles at once: ${await lost(theirs)} fail at the reference without a nonce manager, ${await lost(ours)} here.`;
  return { note, stock: await settles(theirs, 2 * settleConcurrency, settleConcurrency) };
}

const toolCallSeconds = 5;

/** What an agent asks most, in turn: a search and a price. */
async function toolCalls(subject: Subject, near: Neighbours): Promise<string> {
  const id = subject.verifyPath.split("/").at(-2);
  const calls = [
    { name: "search_resources", arguments: { query: "bench" } },
    { name: "get_payment_required", arguments: { id } },
  ];
  const bodies = Array.from({ length: 20_000 }, (_, i) =>
    JSON.stringify({ jsonrpc: "2.0", id: i, method: "tools/call", params: calls[i % calls.length] }),
  );
  const shots = { bodies, concurrency: verifyConcurrency, seconds: toolCallSeconds };
  await measureTools(subject, { ...shots, seconds: 1 }, near);
  const { succeeded, seconds, cpu, failures } = await measureTools(subject, shots, near);
  const lost = failed({ failures });
  say(`farebox: ${succeeded} tool calls in ${seconds.toFixed(1)} s`);
  return `MCP, a search and a price in turn, ${verifyConcurrency} at a time: ${Math.round(succeeded / cpu.server)} tool calls per CPU second of the server, ${Math.round(succeeded / seconds)} per second, ${lost} failures.`;
}

/** Ours comes up in any case: it says what is to be paid. */
async function startSubjects(ground: Ground, { only, signers, profileDir }: Options): Promise<Subject[]> {
  const farebox = await startFarebox(ground, { signers, profileDir });
  stops.push(farebox.child.stop);
  if (!only.includes("reference")) return [farebox];
  const reference = await startReference(ground, farebox.offer);
  stops.push(reference.child.stop);
  return only.includes("farebox") ? [reference, farebox] : [reference];
}

interface Work {
  readonly options: Options;
  readonly purse: Purse;
  readonly near: Neighbours;
}

async function measureAll(
  subjects: readonly Subject[],
  work: Work,
): Promise<Partial<Record<Name, Measured>>> {
  const { options, purse, near } = work;
  const pids = subjects.map(({ child }) => child.pid);
  const verifies = new Map<Name, Sample[]>();
  const settles = new Map<Name, Sample[]>();
  const lones = new Map<Name, Sample[]>();
  const turn = async (
    into: Map<Name, Sample[]>,
    what: string,
    measure: (subject: Subject) => Promise<Sample>,
  ) => {
    for (const subject of subjects) {
      await quiet(pids);
      const from = profileClock();
      const sample = await measure(subject);
      if (subject.name === "farebox") phases.push({ what, from, to: profileClock() });
      into.set(subject.name, [...(into.get(subject.name) ?? []), sample]);
      const rate = (sample.succeeded / sample.seconds).toFixed(1);
      say(`${subject.name}: ${what}, ${sample.succeeded} in ${sample.seconds.toFixed(1)} s, ${rate}/s`);
    }
  };
  for (const subject of subjects) await warmUp(subject, work);
  await turn(lones, "lone settles", (subject) => {
    const bodies = purse.sign(options.loneSettles, subject.offer);
    return measureSettle(subject, { bodies, concurrency: 1, seconds: 60 }, near);
  });
  for (let round = 0; round < options.rounds; round += 1) {
    for (let i = 0; i < options.verifyTurns; i += 1)
      await turn(verifies, "verify", (subject) => {
        const bodies = purse.sign(options.verifies[subject.name], subject.offer);
        const shots = { bodies, concurrency: verifyConcurrency, seconds: options.verifySeconds };
        return measureVerify(subject, shots, near);
      });
    await turn(settles, "settle", (subject) => {
      const bodies = purse.sign(options.settles[subject.name], subject.offer);
      const shots = { bodies, concurrency: settleConcurrency, seconds: options.settleSeconds };
      return measureSettle(subject, shots, near);
    });
  }
  const of = async ({ name, child }: Subject) => ({
    verify: sum(verifies.get(name) ?? []),
    settle: sum(settles.get(name) ?? []),
    lone: sum(lones.get(name) ?? []),
    peakMegabytes: await peakMegabytes(child.pid),
  });
  return Object.fromEntries(
    await Promise.all(subjects.map(async (each) => [each.name, await of(each)] as const)),
  );
}

/** Compiled code and open connections on both sides before the clock runs. */
async function warmUp(subject: Subject, { purse, near }: Work): Promise<void> {
  say(`${subject.name}: warming up`);
  const bodies = purse.sign(subject.name === "farebox" ? 6000 : 600, subject.offer);
  const verifies = { bodies, concurrency: verifyConcurrency, seconds: 2 };
  await measureVerify(subject, verifies, near);
  const settles = { bodies: purse.sign(1_024, subject.offer), concurrency: settleConcurrency, seconds: 30 };
  await measureSettle(subject, settles, near);
}

function notes(options: Options, subjects: readonly Subject[]): string[] {
  const { rounds, signers, blockTimeSeconds } = options;
  const cores = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"})`;
  const turns = subjects.map(({ name }) => name).join(", ");
  return [
    `${cores} shared by server, chain node, PostgreSQL and load; Node ${process.version}; ${rounds} round(s) each, in turns: ${turns}; verify ${options.verifyTurns} turn(s) a round. The server whose turn it is not runs idle beside; ours polls chain and database then.`,
    `Same chain (${blockTimeSeconds} s blocks), same dev USDC behind its ERC-1967 proxy; each has a payee of its own, or ours would book the reference's payments, too; ${mix(options)}; every payment is signed before the clock runs and sent once.`,
    `Verify ${verifyConcurrency} at a time, settle ${settleConcurrency} at a time, lone settles one after the other: each starts just after a block, which is the longest wait.`,
    `Reference: @x402/core and @x402/evm 2.27.0 behind Hono, viem with its nonce manager and the chain's block time (it then polls receipts every ${blockTimeSeconds * 500} ms), one gas key, nothing stored. Ours: ${signers} gas key(s), every step durable in PostgreSQL.`,
    "Settle CPU is counted until the server rests, so work after the answer is in it; gas is all that the server's gas keys burned, failed transactions included; what is called settled was checked against the payee's balance.",
  ];
}

function mix({ payers }: Options): string {
  return payers === 1 ? "one payer" : `${payers.toLocaleString("en-US")} payers in turn`;
}

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) {
    await stop().catch((error) => say(`a part did not stop cleanly: ${String(error)}`));
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const { text, missed } = await run(options);
  process.stdout.write(`\n${text}`);
  if (options.out) await writeFile(options.out, text);
  if (options.profileDir) {
    await stopAll(); // the profile is written when the service ends
    process.stdout.write(`\n${await profileReport(options.profileDir, phases)}`);
  }
  if (missed === null) return 0;
  process.stdout.write(
    missed.length === 0 ? "\nAll aims met.\n" : `\n${missed.length} aim(s) missed: ${missed.join("; ")}.\n`,
  );
  return options.isStrict && missed.length > 0 ? 1 : 0;
}

let isInterrupted = false;
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    void stopAll().then(() => process.exit(130));
  });
}

main()
  .catch((error: unknown) => {
    if (!isInterrupted) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    return 1;
  })
  .then(async (code) => {
    if (isInterrupted) return; // the handler above ends the process
    await stopAll();
    process.exit(code);
  });

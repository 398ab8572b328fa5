/** `npm run conformance`: the eight rules and the attacks, against any x402 facilitator; without one, against ours and
 *  the reference facilitator, each on a chain of its own that was made the same way. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarebox } from "../../../bench/farebox-server.ts";
import { openBenchPostgres } from "../../../bench/ground.ts";
import type { Offer as BenchOffer } from "../../../bench/payments.ts";
import { startReference } from "../../../bench/reference.ts";
import type { Subject } from "../../../bench/subject.ts";
import { twins } from "../../../src/dev/data-place.ts";
import type { Option } from "../bad-input/row.ts";
import { type Rule, runChecks } from "./check.ts";
import { foreignTrial } from "./foreign.ts";
import { type LocalChain, localTrial, startLocalChain } from "./local.ts";
import { type Options, readOptions, usage } from "./options.ts";
import type { Offer } from "./payment.ts";
import { type Judged, report, violations } from "./report.ts";
import { rules } from "./rules/index.ts";
import type { Trial } from "./trial.ts";

const masterSecret = "a master secret of conformance runs";
const stops: (() => Promise<void>)[] = [];
const say = (line: string) => process.stderr.write(`${line}\n`);

async function judge(name: string, trial: Trial, wanted: readonly Rule[]): Promise<Judged> {
  const findings = await runChecks(trial, wanted, ({ check, verdict }) =>
    say(`${name}  ${verdict.kind.padEnd(14)}  ${check.id}`),
  );
  return { name, findings };
}

function asOffer({ resource, requirements }: BenchOffer): Offer {
  return { url: resource.url, option: requirements as Option };
}

/** Ours first: it says what is to be paid. */
async function judgeBoth(wanted: readonly Rule[]): Promise<readonly Judged[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "farebox-conformance-"));
  stops.push(async () => {
    for (const dir of [...(await twins(dataDir)), dataDir]) await rm(dir, { recursive: true, force: true });
  });
  await chmod(dataDir, 0o755); // or a part that runs as another user cannot work in it
  const postgres = await openBenchPostgres();
  stops.push(postgres.stop);
  const databaseUrl = await postgres.database("conformance");
  const ground = ({ node, chainId, contracts }: LocalChain) => {
    const chain = { rpcUrl: node.url, chainId, contracts, blockTimeSeconds: 1 };
    return { ...chain, dataDir, databaseUrl, masterSecret };
  };
  const judged = async (start: (chain: LocalChain) => Promise<Subject>) => {
    const chain = await startLocalChain(masterSecret);
    stops.push(chain.stop);
    const subject = await start(chain);
    stops.push(subject.child.stop);
    const { name, settlePath, signers, offer } = subject;
    const baseUrl = `${subject.baseUrl}${settlePath.replace(/\/settle$/, "")}`;
    const trial = await localTrial(chain, { baseUrl, offer: asOffer(offer), signers });
    const result = await judge(name, trial, wanted);
    await subject.child.stop();
    return { result, offer };
  };
  const ours = await judged((chain) => startFarebox(ground(chain), { signers: 1, profileDir: undefined }));
  const theirs = await judged((chain) => startReference(ground(chain), ours.offer));
  return [ours.result, theirs.result];
}

async function run({ foreign, only, out }: Options): Promise<number> {
  const wanted = rules
    .map((rule) => ({ ...rule, checks: rule.checks.filter(({ id }) => id.startsWith(only)) }))
    .filter(({ checks }) => checks.length > 0);
  const judged = foreign
    ? [await judge(foreign.facilitator, await foreignTrial(foreign), wanted)]
    : await judgeBoth(wanted);
  const text = `${report(judged, wanted)}\n`;
  process.stdout.write(`\n${text}`);
  if (out) await writeFile(out, text);
  const [first] = judged;
  return first && violations(first).length > 0 ? 1 : 0;
}

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse())
    await stop().catch((error: unknown) => say(`a part did not stop cleanly: ${String(error)}`));
}

async function main(): Promise<number> {
  const options = await readOptions(process.argv.slice(2));
  if (options !== "help") return run(options);
  process.stdout.write(`${usage}\n`);
  return 0;
}

for (const name of ["SIGINT", "SIGTERM"] as const)
  process.once(name, () => void stopAll().then(() => process.exit(130)));

main()
  .catch((error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  })
  .then(async (code) => {
    await stopAll();
    process.exit(code);
  });

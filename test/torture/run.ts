/** `npm run torture`: kills, restarts and duplicates under load; exit 1 when anything of it is wrong. */
import { parseArgs } from "node:util";
import { settleManyTimes } from "./duplicates.ts";
import { openStage } from "./stage.ts";
import { duplicatesTable, tortureTable } from "./table.ts";
import { type Outcome, torture } from "./torture.ts";

const usage = `npm run torture -- [options]
  --kills N        kill -9 of a process, every other one at a step of a payment; default 200
  --restarts N     of PostgreSQL, fast and immediate in turn; default 20
  --rate N         new payments a second; default 102
  --duplicates N   settles of one authorization at once; default 10000, 0 for none
  --processes N    of the service; default 3
  --every MS       between two kills, on average; default 9000
  --lease S        how long a dead process keeps its lanes; default 15, as in the service`;

const FINAL_WITHIN_MS = 30_000;
const began = performance.now();
const say = (line: string) =>
  void process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);

function options() {
  const number = (text: string, name: string) => {
    if (!/^\d{1,6}$/.test(text)) throw new Error(`--${name} must be a whole number`);
    return Number(text);
  };
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "200" },
      restarts: { type: "string", default: "20" },
      rate: { type: "string", default: "102" },
      duplicates: { type: "string", default: "10000" },
      processes: { type: "string", default: "3" },
      every: { type: "string", default: "9000" },
      lease: { type: "string", default: "15" },
      help: { type: "boolean", default: false },
    },
  });
  const { help, ...given } = values;
  const read = (name: keyof typeof given) => number(given[name], name);
  return {
    help,
    kills: read("kills"),
    restarts: read("restarts"),
    perSecond: read("rate"),
    duplicates: read("duplicates"),
    processes: read("processes"),
    everyMs: read("every"),
    leaseSeconds: read("lease"),
  };
}

function isRight({ wrongs, finalAfterMs }: Outcome): boolean {
  return finalAfterMs <= FINAL_WITHIN_MS && Object.values(wrongs).every((count) => count === 0);
}

async function main(): Promise<number> {
  const { help, duplicates: count, ...given } = options();
  if (help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  say("starting chain, database and processes");
  const stage = await openStage({ ...given, payers: 2_000 });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stage.stop().finally(() => process.exit(130)));
  try {
    let isGood = true;
    if (count > 0) {
      say(`${count} settles of one authorization`);
      const found = await settleManyTimes(stage, count);
      process.stdout.write(`\n${duplicatesTable(found)}\n\n`);
      isGood =
        found.successes === 1 && found.others.size === 0 && found.transactions === 1 && found.credits === 1;
    }
    say(`${given.kills} kills and ${given.restarts} restarts at ${given.perSecond} payments a second`);
    const outcome = await torture(stage, { ...given, say });
    process.stdout.write(`\n${tortureTable(outcome)}\n\n`);
    isGood &&= isRight(outcome);
    process.stdout.write(isGood ? "All as it must be.\n" : "Not as it must be.\n");
    return isGood ? 0 : 1;
  } finally {
    await stage.stop();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);

/** How much is measured. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

export const names = ["reference", "farebox"] as const;
export type Name = (typeof names)[number];

export interface Options {
  readonly only: readonly Name[];
  /** Interleaved: reference, farebox, reference, farebox … */
  readonly rounds: number;
  /** In each round. */
  readonly verifyTurns: number;
  readonly verifySeconds: number;
  readonly verifies: Readonly<Record<Name, number>>;
  readonly settles: Readonly<Record<Name, number>>;
  readonly settleSeconds: number;
  readonly loneSettles: number;
  readonly payers: number;
  readonly blockTimeSeconds: number;
  /** Gas keys of our service; the reference always has one. */
  readonly signers: number;
  /** A folder with PostgreSQL's programs; those from npm unless given. */
  readonly postgresBin: string | undefined;
  readonly out: string | undefined;
  readonly profileDir: string | undefined;
  readonly isStrict: boolean;
}

/** Enough for all that are under way to be of different payers, and no more: at each block the local node hashes the whole
 *  storage of the token, of which every payer is a part, on the cores that the servers share with it. */
const PAYERS = 2_048;

/** With blocks of a second the aim for settles could not be met by anybody, and with 200 ms the cores wait for blocks:
 *  docs/decisions/0014. */
const BLOCK_MS = 150;

const full = {
  rounds: 2,
  // Short turns: a machine that others use is faster in one half minute and slower in the next.
  verifyTurns: 2,
  verifySeconds: 3,
  verifies: { reference: 3000, farebox: 15_000 },
  settles: { reference: 2048, farebox: 8192 },
  settleSeconds: 20,
  loneSettles: 8,
} as const;

const short = {
  rounds: 1,
  verifyTurns: 1,
  verifySeconds: 3,
  verifies: { reference: 3000, farebox: 15_000 },
  settles: { reference: 512, farebox: 1024 },
  settleSeconds: 15,
  loneSettles: 4,
} as const;

export const usage = `npm run bench -- [options]
  --quick            less of everything, under a minute
  --rounds N         how often each server is measured
  --payers N         how many payers take turns; default ${PAYERS}
  --block-ms N       between two blocks of the chain; default ${BLOCK_MS}
  --signers N        gas keys of our service, 1 to 4; default 1
  --postgres DIR     PostgreSQL's programs, 17 or newer, in place of those from npm, which are built for size
  --only NAME        reference or farebox alone
  --out FILE         write the table there, too
  --cpu-prof DIR     profile our service into DIR
  --strict           exit 1 when an aim is missed`;

export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      payers: { type: "string" },
      "block-ms": { type: "string" },
      signers: { type: "string", default: "1" },
      postgres: { type: "string" },
      only: { type: "string" },
      out: { type: "string" },
      "cpu-prof": { type: "string" },
      strict: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const amounts = values.quick ? short : full;
  const only = names.filter((name) => values.only === undefined || values.only === name);
  if (only.length === 0) throw new Error(`--only must be one of ${names.join(", ")}`);
  return {
    ...amounts,
    only,
    rounds: count("--rounds", values.rounds) ?? amounts.rounds,
    payers: count("--payers", values.payers) ?? PAYERS,
    blockTimeSeconds: (count("--block-ms", values["block-ms"]) ?? BLOCK_MS) / 1000,
    signers: count("--signers", values.signers) ?? 1,
    postgresBin: programsFolder(values.postgres),
    out: values.out,
    profileDir: values["cpu-prof"],
    isStrict: values.strict,
  };
}

function programsFolder(dir: string | undefined): string | undefined {
  if (dir === undefined) return undefined;
  const missing = ["initdb", "pg_ctl", "postgres"].filter((name) => !existsSync(join(dir, name)));
  if (missing.length > 0)
    throw new Error(
      `--postgres must be a folder with PostgreSQL's programs; ${dir} has no ${missing.join(", ")}`,
    );
  return dir;
}

function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name} must be a whole number above 0`);
  return Number(text);
}

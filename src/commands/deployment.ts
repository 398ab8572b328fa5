import { fileURLToPath } from "node:url";
import { Fault } from "#kernel/fault";
import { idMaker } from "#kernel/id";
import type { Log } from "#kernel/log";
import { systemClock, systemRandom } from "#kernel/system";
import { type Database, migrate, openDatabase } from "#store";
import { ConfigProblem, readConfig } from "../config.ts";
import { recordedParts } from "../dev/recorded-parts.ts";

export const say = (line: string) => void process.stdout.write(`${line}\n`);
export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
export const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

/** What adds up all books that there are may take minutes. */
const RECOUNT_MS = 600_000;

export interface Deployment {
  readonly db: Database;
  readonly masterSecret: string;
}

/** The deployment that the environment names, or the local one that runs on the data folder. */
export async function withDeployment(work: (deployment: Deployment) => Promise<void>): Promise<void> {
  const { outside, dataDir } = readConfig(process.env);
  const { databaseUrl, masterSecret } = outside ?? (await recordedParts(dataDir));
  await migrate({ url: databaseUrl, folder: migrations });
  const db = openDatabase({
    url: databaseUrl,
    log: silent,
    name: "cli",
    maxConnections: 2,
    role: "farebox_app",
    statementMs: RECOUNT_MS,
  });
  try {
    await work({ db, masterSecret });
  } finally {
    await db.close();
  }
}

/** Who does something on the command line. */
export function operatorOf(db: Database) {
  return { db, clock: systemClock, newId: idMaker({ clock: systemClock, random: systemRandom }) };
}

export function asUnknownMerchant(merchantId: string | undefined) {
  return (error: unknown): never => {
    if (!(error instanceof Fault) || error.code !== "not_found") throw error;
    throw new ConfigProblem(`There is no merchant ${merchantId} here. See farebox merchants list.`);
  };
}

import { fileURLToPath } from "node:url";
import { openMovableClock } from "#api";
import type { Clock } from "#kernel/clock";
import { Fault } from "#kernel/fault";
import { idMaker, type NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import { systemClock, systemRandom } from "#kernel/system";
import { cleanText } from "#kernel/text";
import { type Database, migrate, openDatabase, outageOf } from "#store";
import { ConfigProblem, readConfig } from "../config.ts";
import { databaseProblem } from "../database-problem.ts";
import { recordedParts } from "../dev/recorded-parts.ts";

export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

/** What adds up all books that there are may take minutes. */
const RECOUNT_MS = 600_000;

export interface Deployment {
  readonly db: Database;
  readonly masterSecret: string;
  /** Who does something on the command line. */
  readonly operator: Operator;
}

interface Operator {
  readonly db: Database;
  /** The merchants': ends of keys go by it, and a sandbox's may be ahead of the machine's. */
  readonly clock: Clock;
  readonly newId: NewId;
}

/** The deployment that the environment names, or the local one that runs on the data folder. */
export async function withDeployment(work: (deployment: Deployment) => Promise<void>): Promise<void> {
  const { outside, dataDir } = readConfig(process.env);
  const { databaseUrl, masterSecret, chains } = outside ?? (await recordedParts(dataDir));
  await prepare(databaseUrl);
  const db = openDatabase({
    url: databaseUrl,
    log: silent,
    name: "cli",
    maxConnections: 2,
    role: "farebox_app",
    statementMs: RECOUNT_MS,
  });
  try {
    const isSandbox = chains.every(({ isLocal }) => isLocal);
    await work({ db, masterSecret, operator: await operatorOf(db, { isSandbox }) });
  } finally {
    await db.close();
  }
}

/** A command of a new version migrates, too. Rejects with what to set; an outage is told as one. */
export function prepare(databaseUrl: string): Promise<void> {
  return migrate({ url: databaseUrl, folder: migrations }).catch((error: unknown) => {
    throw outageOf(error) ? error : databaseProblem(error);
  });
}

async function operatorOf(db: Database, { isSandbox }: { readonly isSandbox: boolean }): Promise<Operator> {
  const clock = isSandbox
    ? (await openMovableClock({ db, clock: systemClock, log: silent })).clock
    : systemClock;
  return { db, clock, newId: idMaker({ clock, random: systemRandom }) };
}

export function asUnknownMerchant(merchantId: string | undefined) {
  return (error: unknown): never => {
    if (!(error instanceof Fault) || error.code !== "not_found") throw error;
    throw new ConfigProblem(`There is no merchant ${merchantId} here. See farebox merchants list.`);
  };
}

/** Our fee on what a merchant sells. */
export function feeBpsOf(text: string): number {
  const feeBps = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (feeBps <= 10_000) return feeBps;
  throw new ConfigProblem(
    `The fee is a whole number of basis points from 0 to 10000, got ${text}: 50 is 0.5 %.`,
  );
}

const LONGEST_REASON = 500;

/** Why an operator does it. */
export const reasonOf = (text: string) => wordsOf("--reason", text, LONGEST_REASON);

/** Words of the operator's that somebody will read. */
export function wordsOf(option: string, text: string, longest: number): string {
  const words = cleanText(text);
  if (words !== "" && words.length <= longest) return words;
  throw new ConfigProblem(`${option} is some text of at most ${longest} characters.`);
}

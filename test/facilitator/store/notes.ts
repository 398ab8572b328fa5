/** A database with one table, of notes, and what tests of the store do with it. */
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { Fault } from "#kernel/fault";
import { type Database, type DbOptions, openDatabase, outageOf, type Tx } from "#store";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";

export let database: TestDatabase;

/** For the tests of a file, empty at the beginning of each. */
export function withNotes(): void {
  beforeAll(async () => {
    database = await freshDatabase();
    await database.query("CREATE TABLE note (text text PRIMARY KEY)");
    await database.query("GRANT ALL ON note TO farebox_app");
  });
  beforeEach(async () => {
    await database.query("DELETE FROM note");
  });
  afterAll(() => database.drop());
}

/** A pool of the test's own, closed when it is over. */
export function open(over: Partial<DbOptions> = {}): Database {
  const { url } = database;
  const db = openDatabase({
    url,
    log: silentLog,
    name: "store",
    maxConnections: 2,
    role: "farebox_app",
    ...over,
  });
  onTestFinished(() => db.close());
  return db;
}

export const write = (tx: Tx, text: string) => tx.execute(sql`INSERT INTO note VALUES (${text})`);
export const notes = async () =>
  (await database.query<{ text: string }>("SELECT text FROM note ORDER BY text")).map(({ text }) => text);
export const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "committed",
    (error: unknown) => (error instanceof Fault ? error.code : (outageOf(error)?.code ?? error)),
  );

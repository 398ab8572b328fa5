/** A PostgreSQL of the test's own, that it may restart, with one migrated database. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { migrate, openDatabase } from "#store";
import { placeData } from "../../src/dev/data-place.ts";
import { startPostgres } from "../../src/dev/postgres.ts";
import { postgresPrograms } from "../../src/dev/postgres-programs.ts";
import { run } from "../../src/dev/processes.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import type { TestDatabase } from "./db.ts";
import { silentLog } from "./dev-chain.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

export interface OwnPostgres extends TestDatabase {
  /** What its data lies on, where it was asked for and may be mounted. */
  readonly disk: SmallDisk | null;
  /** On the same port. `fast` ends every connection, `immediate` is a crash with recovery. */
  restart(how: "fast" | "immediate"): Promise<void>;
}

export interface OwnPostgresOptions {
  /** On a disk of its own, of so many megabytes. */
  readonly diskMegabytes?: number;
}

export async function startOwnPostgres({ diskMegabytes }: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const parent = await mkdtemp(join(tmpdir(), "farebox-test-"));
  const quiet = { dataDir: join(parent, "data"), say: () => {} };
  const socketDir = await mkdtemp(join(tmpdir(), "farebox-test-socket-"));
  await chmod(socketDir, 0o777); // the server may run as another user
  const place = await placeData(quiet.dataDir, "postgres");
  const disk = diskMegabytes === undefined ? null : await mountSmallDisk(place, diskMegabytes);
  const server = await startPostgres({ ...quiet, socketDir });
  // As most tests do: statements are many and short, and by TCP they cost more.
  const url = `${server.url}?host=${encodeURIComponent(socketDir)}`;
  await migrate({ url, folder: fileURLToPath(new URL("../../migrations", import.meta.url)) });
  const db = openDatabase({ url, log: silentLog, name: "test", maxConnections: 6, role: "farebox_app" });
  const owner = new pg.Pool({ connectionString: url, max: 2 });
  owner.on("error", () => {});
  const { pgCtl } = await postgresPrograms(place.user, quiet.dataDir);
  return {
    url,
    db,
    disk,
    query: async <T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await owner.query<T>(text, [...values])).rows,
    async drop() {
      await Promise.all([db.close(), owner.end()]);
      await server.stop();
      await disk?.unmount();
      await resetDataFolder(quiet);
      for (const dir of [socketDir, parent]) await rm(dir, { recursive: true, force: true });
    },
    async restart(how) {
      // The port and the rest of its options are those of its last start.
      const args = ["restart", "-m", how, "-w", "-t", "30", "-D", join(place.dir, "data")];
      const log = ["-l", join(place.dir, "server.log")];
      const program = { file: pgCtl, args: [...args, ...log], user: place.user, cwd: place.dir };
      const code = await run({ ...program, stdio: "ignore" });
      if (code !== 0) throw new Error(`PostgreSQL does not restart: ${code}`);
    },
  };
}

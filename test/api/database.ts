import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Database, migrate, openDatabase } from "#store";
import { startPostgres } from "../../src/dev/postgres.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import { recordingLog } from "./world.ts";

const folder = fileURLToPath(new URL("../../migrations", import.meta.url));

/** A PostgreSQL of its own with the migrated schema, as the role that serves requests sees it. */
export async function startDatabase(): Promise<{
  readonly db: Database;
  readonly url: string;
  stop(): Promise<void>;
}> {
  const parent = await mkdtemp(join(tmpdir(), "farebox-test-"));
  const dataDir = join(parent, "data");
  const say = () => {};
  const server = await startPostgres({ dataDir, say });
  await migrate({ url: server.url, folder });
  const db = openDatabase({
    url: server.url,
    log: recordingLog(),
    maxConnections: 12,
    name: "test",
    role: "farebox_app",
  });
  return {
    db,
    url: server.url,
    stop: async () => {
      await db.close();
      await server.stop();
      await resetDataFolder({ dataDir, say });
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** One real PostgreSQL for the whole run, with a migrated template that each test file clones, and the programs that
 *  tests start. Global set-up of the `real` project. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "#store";
import { startPostgres } from "../../src/dev/postgres.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import { migrateJobs } from "../../src/jobs.ts";
import { databaseAt, TEMPLATE } from "./database-at.ts";
import { silentLog } from "./dev-chain.ts";
import { buildAll } from "./programs.ts";
import { scratch } from "./scratch.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildAll();
  project.onTestsRerun(buildAll);
  const server = await startTestServer();
  project.provide("databaseUrl", server.url);
  return server.stop;
}

export interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

const off = "off";
const settings = {
  // It dies with the run: what it holds need not outlive the machine, and waits for no disk.
  fsync: off,
  full_page_writes: off,
  synchronous_commit: off,
  jit: off,
  // What lies in memory need not lie there twice.
  shared_buffers: "128MB",
};

/** A server of its own with the migrated template, gone when it is stopped. */
export async function startTestServer(): Promise<TestServer> {
  const parent = await mkdtemp(join(scratch(), "farebox-test-"));
  await chmod(parent, 0o755); // or the data goes where the user of the server can get
  const dataDir = join(parent, "data");
  const socketDir = await mkdtemp(join(scratch(), "farebox-test-socket-"));
  await chmod(socketDir, 0o777); // the server may run as another user
  const quiet = { dataDir, say: () => {} };
  const server = await startPostgres({ ...quiet, socketDir, settings });
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  // Thousands of connections prove that they know a password which is no secret.
  await admin.query("SET scram_iterations = 1");
  await admin.query(`ALTER ROLE farebox PASSWORD ${pg.escapeLiteral(new URL(server.url).password)}`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  // Statements are many and short: by the socket a thousand simulated seeds take a tenth less processor time than by TCP.
  const url = `${server.url}?host=${encodeURIComponent(socketDir)}`;
  const template = databaseAt(url, TEMPLATE);
  await migrate({ url: template, folder: fileURLToPath(new URL("../../migrations", import.meta.url)) });
  await migrateJobs(template, silentLog);
  return {
    url,
    async stop() {
      await server.stop();
      await rm(socketDir, { recursive: true });
      await resetDataFolder(quiet).catch(() => {});
      await rm(parent, { recursive: true, force: true });
    },
  };
}

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { access, chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { isRoot } from "../../../src/dev/identity.ts";
import { startPostgres } from "../../../src/dev/postgres.ts";
import { gone, isAlive } from "../../../src/dev/processes.ts";
import { until } from "../../support/house.ts";
import { dataFolder, say } from "./support.ts";

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe("startPostgres", () => {
  it("keeps its data and its password over a restart", async () => {
    // given a database with a row
    const dataDir = await dataFolder();
    const first = await startPostgres({ dataDir, say });
    await query(first.url, "CREATE TABLE note AS SELECT 'ü' AS text");
    // when it is stopped and started again
    await first.stop();
    expect(await isAlive(first.pid)).toBe(false);
    const second = await startPostgres({ dataDir, say });
    // then it is another server with the same row, reachable with the same password
    expect(
      await query(
        second.url,
        "SELECT text, pg_encoding_to_char(encoding) AS encoding FROM note, pg_database WHERE datname = current_database()",
      ),
    ).toEqual([{ text: "ü", encoding: "UTF8" }]);
    expect({ first: first.adopted, second: second.adopted }).toEqual({ first: false, second: false });
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    expect(new URL(second.url).pathname).toBe("/farebox");
  });

  it("asks for the password, and may create roles", async () => {
    const { url } = await startPostgres({ dataDir: await dataFolder(), say });
    const wrong = new URL(url);
    wrong.password = "guess";
    await expect(query(wrong.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    await expect(query(url, "CREATE ROLE somebody")).resolves.toEqual([]);
  });

  it("runs for two data folders at the same time", async () => {
    const [one, two] = await Promise.all([
      startPostgres({ dataDir: await dataFolder(), say }),
      startPostgres({ dataDir: await dataFolder(), say }),
    ]);
    expect(new URL(one.url).port).not.toBe(new URL(two.url).port);
    await query(one.url, "CREATE TABLE only_here ()");
    expect(await query(two.url, "SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }]);
  });

  it("starts again after a kill -9 of the server and a pid that belongs to somebody else now", async () => {
    // given a killed server, whose recorded pid is now ours
    const dataDir = await dataFolder();
    const first = await startPostgres({ dataDir, say });
    process.kill(first.pid, "SIGKILL");
    await gone(first.pid, 5000);
    const pidFile = join(dataDir, "postgres", "data", "postmaster.pid");
    const [, ...rest] = (await readFile(pidFile, "utf8")).split("\n");
    await writeFile(pidFile, [process.pid, ...rest].join("\n"));
    // when it is started again
    const second = await startPostgres({ dataDir, say });
    // then it is a new one
    expect({ adopted: second.adopted, alive: await isAlive(second.pid) }).toEqual({
      adopted: false,
      alive: true,
    });
    expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("is not waited for when it is told to end while its database is made: nothing is left, and the next one makes it", async () => {
    // given a start, ended as soon as it says what it does, and another one when there are files
    const dataDir = await dataFolder();
    const place = join(dataDir, "postgres");
    const files = () =>
      readdir(place).then((names) => names.some((name) => existsSync(join(place, name, "data/base/1"))));
    for (const point of [async () => {}, () => until(files, "the database's files are made")]) {
      const ending = new AbortController();
      const lines: string[] = [];
      const starting = startPostgres({ dataDir, say: (line) => lines.push(line), signal: ending.signal });
      await until(async () => lines.includes("making the PostgreSQL database"), "it says what it does");
      await point();
      ending.abort();
      // then it rejects with the signal's reason, its programs are gone, and so is what they made
      await expect(starting).rejects.toBe(ending.signal.reason);
      const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
      expect(stdout).not.toContain(place);
      expect(await readdir(place)).toEqual(["setup.log"]);
    }
    const { url } = await startPostgres({ dataDir, say });
    expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("runs the programs of another folder", async () => {
    // given a folder whose initdb says where it is
    const dataDir = await dataFolder();
    const bin = join(dirname(dataDir), "bin");
    await mkdir(bin);
    await writeFile(join(bin, "initdb"), "#!/bin/sh\necho initdb of another folder\nexit 3\n");
    for (const path of [bin, join(bin, "initdb")]) await chmod(path, 0o755); // also under a strict umask
    // then that one is asked to make the database
    await expect(startPostgres({ dataDir, say, bin })).rejects.toThrow("initdb of another folder");
  });

  it("can be stopped twice, and writes to a file only", async () => {
    const dataDir = await dataFolder();
    const server = await startPostgres({ dataDir, say });
    await server.stop();
    await server.stop();
    expect(await readFile(join(dataDir, "postgres", "server.log"), "utf8")).toContain("shut down");
  });
});

describe.runIf(isRoot)("startPostgres below a folder that nobody can enter", () => {
  it("runs from the twin, and goes on with it after a restart", async () => {
    // given a data folder below a 0700 folder
    const dataDir = await dataFolder(0o700);
    // when it is started, stopped and started
    const first = await startPostgres({ dataDir, say });
    await query(first.url, "CREATE TABLE note ()");
    await first.stop();
    const second = await startPostgres({ dataDir, say });
    // then the same database answers, and nothing of it lies in the closed folder
    expect(await query(second.url, "SELECT count(*) AS rows FROM note")).toEqual([{ rows: "0" }]);
    await expect(access(join(dataDir, "postgres"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

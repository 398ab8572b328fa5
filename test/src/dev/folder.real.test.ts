import { access, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DevJson, devJsonPath, removeDevJson, writeDevJson } from "../../../src/dev/dev-json.ts";
import { claimFolder } from "../../../src/dev/folder-claim.ts";
import { isRoot, partsUser } from "../../../src/dev/identity.ts";
import { masterSecret } from "../../../src/dev/master-secret.ts";
import { run } from "../../../src/dev/processes.ts";
import { placePrograms } from "../../../src/dev/program-place.ts";
import { resetDataFolder } from "../../../src/dev/reset.ts";
import { dataFolder, say } from "./support.ts";

describe("masterSecret", () => {
  it("is made once, also when asked for twice at once, and only its owner reads it", async () => {
    const dataDir = await dataFolder();
    const [one, two] = await Promise.all([masterSecret(dataDir), masterSecret(dataDir)]);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect([two, await masterSecret(dataDir)]).toEqual([one, one]);
    expect((await stat(join(dataDir, "master-secret"))).mode & 0o777).toBe(0o600);
  });

  it("refuses a file that is not a secret", async () => {
    const dataDir = await dataFolder();
    await mkdir(dataDir);
    await writeFile(join(dataDir, "master-secret"), "short\n");
    await expect(masterSecret(dataDir)).rejects.toThrow("64 hex digits");
  });
});

describe("dev.json", () => {
  it("is written whole and removed", async () => {
    const dataDir = await dataFolder();
    const content: DevJson = {
      baseUrl: "http://127.0.0.1:4020",
      merchantId: "mer_1",
      secretKey: "sk_1",
      publishableKey: "pk_1",
      chain: {
        network: "eip155:31337",
        slug: "local",
        rpcUrl: "http://127.0.0.1:1",
        treasury: "0x1",
        assets: { USDC: "0x2", EURC: "0x3", USDG: "0x4" },
      },
      databaseUrl: "postgres://",
      payer: { address: "0x5", privateKey: "0x6" },
    };
    await writeDevJson(dataDir, content);
    expect(JSON.parse(await readFile(devJsonPath(dataDir), "utf8"))).toEqual(content);
    await removeDevJson(dataDir);
    await removeDevJson(dataDir);
    await expect(access(devJsonPath(dataDir))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("claimFolder", () => {
  it("says which setting names a place that is no folder", async () => {
    const dataDir = await dataFolder();
    await writeFile(dataDir, "a file");
    await expect(claimFolder(dataDir)).rejects.toThrow(
      /^Nothing can be kept in .*\(EEXIST\)\. Set FAREBOX_DATA/,
    );
    await rm(dataDir);
  });

  it("refuses a folder that another living process holds, and takes one that a dead process left", async () => {
    const dataDir = await dataFolder();
    await mkdir(dataDir);
    const path = join(dataDir, "service.json");
    const held = await claimFolder(dataDir);
    const { mark } = JSON.parse(await readFile(path, "utf8"));
    await held.release();
    const parentMark = (await readFile(`/proc/${process.ppid}/stat`, "utf8"))
      .split(") ")
      .at(-1)
      ?.split(" ")[19];
    await writeFile(path, JSON.stringify({ pid: process.ppid, mark: parentMark }));
    await expect(claimFolder(dataDir)).rejects.toThrow(`in use by process ${process.ppid}`);
    await expect(resetDataFolder({ dataDir, say })).rejects.toThrow("stop it first");
    await writeFile(path, JSON.stringify({ pid: process.ppid, mark: `not ${mark}` }));
    await (await claimFolder(dataDir)).release();
    await masterSecret(dataDir); // lets the clean-up know the folder as ours
  });
});

describe("resetDataFolder", () => {
  it("does not remove a folder that is none of ours, nor one that holds the checkout", async () => {
    const other = await mkdtemp(join(tmpdir(), "farebox-test-"));
    onTestFinished(() => rm(other, { recursive: true }));
    await writeFile(join(other, "thesis.txt"), "years of work");
    await expect(resetDataFolder({ dataDir: other, say })).rejects.toThrow("not removed");
    await expect(resetDataFolder({ dataDir: process.cwd(), say })).rejects.toThrow("not removed");
    const file = join(other, "thesis.txt");
    await expect(resetDataFolder({ dataDir: file, say })).rejects.toThrow("not removed");
    expect(await readFile(file, "utf8")).toBe("years of work");
  });
});

describe("placePrograms", () => {
  it("repairs what npm leaves undone, and copies what the parts' user cannot reach", async () => {
    // given a package in a 0700 folder, its program not executable, its link missing
    const source = await mkdtemp(join(tmpdir(), "farebox-test-"));
    const name = `test-${process.pid}`;
    await mkdir(join(source, "bin"));
    await writeFile(join(source, "bin", "hello"), '#!/bin/sh\ncat "$(dirname "$0")/word"\n', { mode: 0o600 });
    await writeFile(join(source, "bin", "word.1"), "hello\n", { mode: 0o600 });
    // when it is placed
    const links = new Map([["bin/word", "bin/word.1"]]);
    const home = await placePrograms({ source, name, executables: ["bin/hello"], links }, partsUser, source);
    onTestFinished(async () => {
      await rm(source, { recursive: true });
      await rm(home, { recursive: true, force: true });
    });
    // then that user runs it
    const program = {
      file: join(home, "bin", "hello"),
      args: [],
      user: partsUser,
      cwd: "/",
      stdio: "ignore" as const,
    };
    expect(await run(program)).toBe(0);
    expect(home === source).toBe(!isRoot);
  });
});

/** Dockerfile and compose.yaml against the repository: nothing here builds or starts a container. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { getContractAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { deriveKey } from "../../src/keys.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const isThere = (path: string) => existsSync(fileURLToPath(new URL(path, root)));

const dockerfile = read("Dockerfile");
const compose = read("compose.yaml");

/** What the image holds, by the names in the repository. */
const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = ""]) =>
  sources.split(" "),
);

/** The services' settings, as the shell would be given them. */
function settings(): Record<string, string> {
  const [, block = ""] = /^x-settings: &settings\n((?: {2,}.*\n)+)/m.exec(compose) ?? [];
  const joined = block.replaceAll(
    />-\n((?: {4}.*\n)+)/g,
    (_, lines: string) => `${lines.trim().replaceAll(/\n\s*/g, " ")}\n`,
  );
  return Object.fromEntries(
    [...joined.matchAll(/^ {2}(\w+): (.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replace(/^"(.*)"$/, "$1"),
    ]),
  );
}

describe("the image", () => {
  it("copies what exists, and nothing that is kept out of it", () => {
    expect(copied).toContain("package-lock.json");
    for (const path of copied) expect(isThere(path), path).toBe(true);
    const admitted = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path]) => path);
    expect([...copied].sort()).toEqual([...admitted].sort());
  });

  it("holds every room that the service imports", () => {
    const { imports } = JSON.parse(read("package.json")) as { imports: Record<string, string> };
    for (const path of Object.values(imports)) expect(copied).toContain(path.split("/")[1]);
    const climbing = /from "((?:\.\.\/)+(\w+)\/[^"]+)"/g;
    for (const file of readdirSync(new URL("src", root), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts")) continue;
      const depth = file.split("/").length;
      for (const [, path = "", room = ""] of read(`src/${file}`).matchAll(climbing))
        if (path.split("../").length - 1 === depth) expect(copied, `${file} imports ${path}`).toContain(room);
    }
  });

  it("starts as npm start does, as a user without rights, and asks itself whether it is well", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: { start: string } };
    const [, command = ""] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
    const [, environment = ""] = /^ENV FAREBOX_DATA=\S+ PORT=4020 (.*)$/m.exec(dockerfile) ?? [];
    expect([environment, ...(JSON.parse(command) as string[])].join(" ")).toBe(scripts.start);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/HEALTHCHECK[\s\S]*\/health`/);
  });

  it("runs programs that are there", () => {
    const programs = [...`${dockerfile}\n${compose}`.matchAll(/--import tsx (\S+\.ts)/g)].map(
      ([, path = ""]) => path,
    );
    expect(programs).toEqual(["contracts/build.ts", "src/build.ts", "src/dev/prepare-chain.ts"]);
    for (const path of programs) expect(isThere(path), path).toBe(true);
    for (const [, path = ""] of compose.matchAll(/command: (node_modules\S+)/g))
      expect(isThere(path), path).toBe(true);
  });
});

describe("the composition", () => {
  const env = settings();
  const secret = env.FAREBOX_MASTER_SECRET ?? "";

  it.each(["web", "worker"] as const)("gives a %s settings that the service takes", (role) => {
    expect(compose).toContain(`ROLE: ${role}`);
    const config = readConfig({ ...env, ROLE: role, PORT: "4020", FAREBOX_DATA: "/var/lib/farebox" });
    expect(config).toMatchObject({ role, trustedProxyHops: 1, baseUrl: "http://127.0.0.1:4020" });
    expect(config.outside?.chains).toMatchObject([
      { slug: "local", chainId: 31337, rpcUrls: ["http://chain:8545"] },
    ]);
  });

  it("names the keys and contracts that its secret makes", () => {
    const { outside } = readConfig(env);
    const keyOf = (label: Parameters<typeof deriveKey>[1]) => deriveKey(secret, label);
    expect(outside?.signerKeys).toEqual([keyOf("signer:0"), keyOf("signer:1")]);
    expect(outside?.treasuryKey).toBe(keyOf("treasury"));
    expect(compose).toContain(`src/dev/prepare-chain.ts http://chain:8545 ${secret}`);
    const addressOf = (label: Parameters<typeof deriveKey>[1]) => privateKeyToAccount(keyOf(label)).address;
    const from = addressOf("deployer");
    const made = (nonce: bigint) => getContractAddress({ from, nonce }).toLowerCase();
    const [chain] = outside?.chains ?? [];
    expect(chain?.treasury).toBe(addressOf("treasury").toLowerCase());
    expect(chain?.router).toBe(made(12n));
    expect(chain?.tokens.map(({ contract }) => contract)).toEqual([made(1n), made(2n), made(3n)]);
  });
});

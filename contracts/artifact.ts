/** What is compiled, and whether `contracts/out` still holds it. No compiler is loaded here. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Abi, Hex } from "viem";

export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
  readonly deployedBytecode: Hex;
}

/** Contract name → the source that holds it, as the compiler names it. */
export const wanted = {
  DevToken: "contracts/DevToken.sol",
  Aggregate3: "contracts/Aggregate3.sol",
  PaymentRouter: "contracts/PaymentRouter.sol",
  Wallet1271: "contracts/Wallet1271.sol",
  OddToken: "contracts/OddToken.sol",
  ERC1967Proxy: "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol",
} as const;
export type ContractName = keyof typeof wanted;

export const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: "cancun", // pinned: the default moves with the compiler, and chains of our users lag behind it
  metadata: { bytecodeHash: "none" }, // a comment must not change what is deployed
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
} as const;

export const contractsDir = dirname(fileURLToPath(import.meta.url));
const outDir = join(contractsDir, "out");
const stampFile = join(outDir, "stamp");
const require = createRequire(import.meta.url);

/** Path on disk of an imported source, "contracts/X.sol" or "@scope/package/path.sol". */
export function sourcePath(name: string): string {
  const [scope, pkg, ...rest] = name.split("/");
  if (scope === "contracts") return join(contractsDir, ...name.split("/").slice(1));
  return join(dirname(require.resolve(`${scope}/${pkg}/package.json`)), ...rest);
}

/** Hash over our sources, the settings and the versions of compiler and library. */
export async function currentStamp(): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify({ settings, wanted }));
  for (const pkg of ["solc", "@openzeppelin/contracts"]) {
    hash.update(JSON.parse(await readFile(require.resolve(`${pkg}/package.json`), "utf8")).version);
  }
  const sources = (await readdir(contractsDir)).filter((file) => file.endsWith(".sol")).sort();
  for (const file of sources) hash.update(file).update(await readFile(join(contractsDir, file)));
  return hash.digest("hex");
}

export async function isFresh(stamp: string): Promise<boolean> {
  const written = await readFile(stampFile, "utf8").catch(() => "");
  return written.trim() === stamp;
}

export async function readArtifact(name: ContractName): Promise<Artifact> {
  return JSON.parse(await readFile(join(outDir, `${name}.json`), "utf8"));
}

/** Writes all artifacts, the stamp last: whoever sees the stamp sees its artifacts too. */
export async function writeArtifacts(
  artifacts: Record<ContractName, Artifact>,
  stamp: string,
): Promise<void> {
  await mkdir(outDir, { recursive: true });
  for (const [name, artifact] of Object.entries(artifacts)) {
    await writeAtomic(join(outDir, `${name}.json`), `${JSON.stringify(artifact)}\n`);
  }
  await writeAtomic(stampFile, `${stamp}\n`);
}

async function writeAtomic(path: string, text: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, text);
  await rename(aside, path);
}

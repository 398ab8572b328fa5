/** Compiles `contracts/*.sol` into `contracts/out`: `node --import tsx contracts/build.ts`. */
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type Artifact,
  type ContractName,
  currentStamp,
  isFresh,
  settings,
  sourcePath,
  wanted,
  writeArtifacts,
} from "./artifact.ts";

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Record<string, Record<string, CompiledContract>>;
}

interface CompiledContract {
  readonly abi: Artifact["abi"];
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
  };
}

/** Compiles when sources, settings or versions changed; "fresh" when there was nothing to do. */
async function buildContracts(): Promise<"built" | "fresh"> {
  const stamp = await currentStamp();
  if (await isFresh(stamp)) return "fresh";
  const output = await compile();
  const names = Object.keys(wanted) as ContractName[]; // keys of a const table: Object.keys forgets their type
  const artifacts = Object.fromEntries(names.map((name) => [name, artifactOf(output, name)]));
  await writeArtifacts(artifacts as Record<ContractName, Artifact>, stamp);
  return "built";
}

async function compile(): Promise<CompilerOutput> {
  const { default: solc } = await import("solc"); // half a second to load, so only when needed
  const sources = Object.fromEntries(Object.values(wanted).map((name) => [name, { content: read(name) }]));
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const output: CompilerOutput = JSON.parse(solc.compile(input, { import: findImport }));
  const broken = (output.errors ?? []).filter((error) => error.severity === "error");
  if (broken.length > 0) throw new Error(broken.map((error) => error.formattedMessage).join("\n"));
  return output;
}

function findImport(name: string): { contents: string } | { error: string } {
  try {
    return { contents: read(name) };
  } catch (error) {
    return { error: `${name}: ${String(error)}` }; // the compiler reports it with the importing line
  }
}

function read(name: string): string {
  return readFileSync(sourcePath(name), "utf8");
}

function artifactOf(output: CompilerOutput, name: ContractName): Artifact {
  const compiled = output.contracts?.[wanted[name]]?.[name];
  if (!compiled) throw new Error(`the compiler made no ${name}`);
  const { bytecode, deployedBytecode } = compiled.evm;
  return {
    abi: compiled.abi,
    bytecode: `0x${bytecode.object}`,
    deployedBytecode: `0x${deployedBytecode.object}`,
  };
}

const command = process.argv[1];
if (command && realpathSync(command) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`contracts: ${await buildContracts()}\n`);
}

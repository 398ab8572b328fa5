/** Door to the compiled contracts: artifacts are generated, built when their sources changed. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Address, encodeDeployData, type Hex } from "viem";
import { type Artifact, contractsDir, currentStamp, isFresh, readArtifact } from "./artifact.ts";

export type { Artifact } from "./artifact.ts";

export interface Artifacts {
  readonly devToken: Artifact;
  readonly erc1967Proxy: Artifact;
  readonly aggregate3: Artifact;
  readonly paymentRouter: Artifact;
  readonly wallet1271: Artifact;
  readonly oddToken: Artifact;
}

/** ABI and bytecode of each contract; compiles first (about three seconds) when `contracts/out` is stale. */
export async function loadArtifacts(): Promise<Artifacts> {
  if (!(await isFresh(await currentStamp()))) await buildInOwnProcess();
  const [devToken, erc1967Proxy, aggregate3, paymentRouter, wallet1271, oddToken] = await Promise.all([
    readArtifact("DevToken"),
    readArtifact("ERC1967Proxy"),
    readArtifact("Aggregate3"),
    readArtifact("PaymentRouter"),
    readArtifact("Wallet1271"),
    readArtifact("OddToken"),
  ]);
  return { devToken, erc1967Proxy, aggregate3, paymentRouter, wallet1271, oddToken };
}

/** What a transaction without recipient carries to make a payment router that takes orders signed by `operator`. */
export function routerCreation({ paymentRouter: { abi, bytecode } }: Artifacts, operator: Address): Hex {
  return encodeDeployData({ abi, bytecode, args: [operator] });
}

/** The compiler blocks for seconds, keeps its memory, and hooks uncaught exceptions: not in the service's process. */
async function buildInOwnProcess(): Promise<void> {
  // From here `tsx` is found by its name, whoever has loaded this module.
  const cwd = contractsDir;
  await promisify(execFile)(process.execPath, ["--import", "tsx", join(cwd, "build.ts")], { cwd });
}

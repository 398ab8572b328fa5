import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createPublicClient, erc20Abi, http } from "viem";
import type { Deployment } from "./deployment.ts";

/** The ledger's trial balance, as the command line prints it. */
export async function trialBalance(dataDir: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "src/cli.ts", "trial-balance"],
    {
      env: { ...process.env, FAREBOX_DATA: dataDir },
    },
  );
  return stdout;
}

export interface Compared {
  readonly token: string;
  readonly ledger: string;
  readonly chain: string;
}

/** What the ledger says the treasury holds, beside what the chain says, in whole tokens. */
export async function compare({ chain }: Deployment, balance: string): Promise<readonly Compared[]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  return Promise.all(
    Object.entries(chain.assets).map(async ([token, address]) => {
      const held = await client.readContract({
        address,
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [chain.treasury],
      });
      return { token, ledger: atomic(treasuryLine(balance, token)), chain: held.toString() };
    }),
  );
}

/** Posted and pending columns of a treasury account; a token that never moved has no account. */
function treasuryLine(balance: string, token: string): readonly string[] {
  const line = balance
    .split("\n")
    .find((each) => each.startsWith(`${token}@`) && each.includes("asset:treasury:"));
  return line ? line.trim().split(/\s+/).slice(1, 3) : ["0", "0"];
}

function atomic(columns: readonly string[]): string {
  return columns.reduce((sum, column) => sum + BigInt(column.replace(".", "")), 0n).toString();
}

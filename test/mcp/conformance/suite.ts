/** Runs the official conformance suite as anybody would, from its command line, and reads what it says. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Era = "2025-11-25" | "2026-07-28";
const suites = {
  "2025-11-25": { name: "@modelcontextprotocol/conformance", all: ["--suite", "all"] },
  "2026-07-28": { name: "mcp-conformance-2026", all: ["--requirements", "2026-07-28"] },
} as const satisfies Record<Era, object>;

/** How many checks of a scenario passed and failed. A scenario that has nothing to look at has none of either. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

/** Every scenario of the suite of an era against `url`, by name. */
export async function runSuite(era: Era, url: string): Promise<ReadonlyMap<string, Outcome>> {
  const said = await run(era, ["--url", url, ...suites[era].all]);
  const [, summary] = said.split("=== SUMMARY ===");
  if (summary === undefined) throw new Error(`the suite ended without a summary:\n${said.slice(-2_000)}`);
  // Lines such as `✓ ping: 1 passed, 0 failed`.
  const lines = [...summary.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)];
  return new Map(
    lines.map(([, name = "", passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]),
  );
}

/** One scenario of the new era: the ids of its checks that failed, and of those, which the suite calls not testable. */
export async function runScenario(name: string, url: string) {
  const said = await run("2026-07-28", ["--url", url, "--scenario", name, "--spec-version", "2026-07-28"]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
  const plain = said.replace(/\u001b\[[0-9;]*m/g, "");
  const idsOf = (verdict: string) =>
    [...plain.matchAll(new RegExp(`\\[([\\w-]+) *\\] ${verdict} `, "g"))].map(([, id = ""]) => id);
  const notTestable = [...plain.matchAll(/Error: Not testable: /g)].length;
  return { passed: idsOf("SUCCESS"), failed: idsOf("FAILURE"), notTestable };
}

async function run(era: Era, args: readonly string[]): Promise<string> {
  const program = fileURLToPath(
    new URL(`../../../node_modules/${suites[era].name}/dist/index.js`, import.meta.url),
  );
  // It may write results below the folder that it is started in.
  const cwd = await mkdtemp(join(tmpdir(), "farebox-conformance-"));
  try {
    return await outputOf([program, "server", ...args], cwd);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function outputOf(args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const suite = spawn(process.execPath, [...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [suite.stdout, suite.stderr])
      stream.on("data", (piece) => {
        said += piece;
      });
    suite.once("error", reject);
    suite.once("close", () => resolve(said));
  });
}

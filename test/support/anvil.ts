/** A real EVM node for one test file: its own port, nothing kept, blocks when a transaction comes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { rpc } from "../../src/dev/rpc.ts";

export interface AnvilOptions {
  /** Default 31337. */
  readonly chainId?: number;
  /** A block every so many seconds. Default: one per transaction. */
  readonly blockTimeSeconds?: number;
  readonly args?: readonly string[];
}

export interface Anvil {
  readonly rpcUrl: string;
  readonly chainId: number;
  rpc<T>(method: string, params?: readonly unknown[]): Promise<T>;
  /** Mines `blocks` blocks, `secondsApart`. */
  mine(blocks?: number, secondsApart?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when it listens. The caller stops it; if the test process dies, so does the node. */
export async function startAnvil({
  chainId = 31337,
  blockTimeSeconds,
  args = [],
}: AnvilOptions = {}): Promise<Anvil> {
  const all = ["--port", "0", "--host", "127.0.0.1", "--chain-id", String(chainId)];
  all.push("--slots-in-an-epoch", "1", "--gas-limit", "200000000", "--accounts", "1");
  if (blockTimeSeconds !== undefined) all.push("--block-time", String(blockTimeSeconds));
  const node = spawn(programPath(), [...all, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => node.kill("SIGKILL");
  process.once("exit", kill);
  const rpcUrl = `http://127.0.0.1:${await listeningPort(node)}`;
  const ask = <T>(method: string, params: readonly unknown[] = []) => rpc<T>(rpcUrl, method, params);
  return {
    rpcUrl,
    chainId,
    rpc: ask,
    mine: async (blocks = 1, secondsApart = 1) => {
      await ask("anvil_mine", [`0x${blocks.toString(16)}`, `0x${secondsApart.toString(16)}`]);
    },
    stop: async () => {
      process.removeListener("exit", kill);
      if (node.exitCode !== null || node.signalCode !== null) return;
      const ended = once(node, "exit");
      kill();
      await ended;
    },
  };
}

async function listeningPort(node: ChildProcess): Promise<number> {
  const { stdout } = node;
  if (!stdout) throw new Error("anvil has no output");
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (!port) continue;
    stdout.resume(); // it says a line for every request, and would wait for a reader
    return Number(port);
  }
  throw new Error("anvil ended before it listened");
}

function programPath(): string {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const parent = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  const folder = dirname(createRequire(parent).resolve(`@foundry-rs/anvil-${platform}/package.json`));
  return join(folder, "bin", process.platform === "win32" ? "anvil.exe" : "anvil");
}

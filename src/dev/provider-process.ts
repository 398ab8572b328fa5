/** The sandbox provider beside the local deployment: a process of its own, as an outside provider would be. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SandboxAccess } from "#api";
import { end } from "./processes.ts";

export interface SandboxProviderProcess {
  readonly baseUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL("../../dist/sandbox-provider.mjs", import.meta.url));
const PACE_MS = 300;

/** Starts it on what it knew before. It ends with us, however we end: it listens for the end of its input. */
export async function startSandboxProvider({
  dataDir,
  access,
  servicePort,
  paceMs = PACE_MS,
}: {
  readonly dataDir: string;
  readonly access: SandboxAccess;
  /** On loopback: its callbacks go there. */
  readonly servicePort: number;
  /** Between two things that happen there by themselves. */
  readonly paceMs?: number;
}): Promise<SandboxProviderProcess> {
  await mkdir(dataDir, { recursive: true });
  const callbackUrl = `http://127.0.0.1:${servicePort}/v1/provider-webhooks/sandbox`;
  const child = spawn(process.execPath, [program, join(dataDir, "sandbox-provider.json")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {},
    detached: true, // Ctrl-C in our terminal does not reach it: it is stopped in its turn
  });
  child.stdin.on("error", () => undefined); // it ended first, which `once` below tells
  child.stdin.write(`${JSON.stringify({ ...access, callbackUrl, paceMs })}\n`);
  const ended = once(child, "exit").then(() => {
    throw new Error("the sandbox provider ended before it listened");
  });
  ended.catch(() => undefined); // ends later, too
  const [port] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  child.unref();
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      child.stdin.end();
      if (child.pid !== undefined) await end(child.pid, 2_000);
    },
  };
}

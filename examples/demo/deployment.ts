import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What a local deployment tells of itself in `dev.json`. */
export interface Deployment {
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly databaseUrl: string;
  readonly chain: {
    readonly network: `eip155:${number}`;
    readonly rpcUrl: string;
    readonly treasury: `0x${string}`;
    readonly assets: Readonly<Record<"USDC" | "EURC" | "USDG", `0x${string}`>>;
  };
  readonly payer: { readonly address: `0x${string}`; readonly privateKey: `0x${string}` };
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const START_MS = 120_000;

/** Starts a deployment of its own on an empty folder and waits until it serves. */
export async function startDeployment(): Promise<{
  deployment: Deployment;
  dataDir: string;
  stop(): Promise<void>;
}> {
  const dataDir = join(await mkdtemp(join(tmpdir(), "farebox-demo-")), "data");
  const environment = {
    ...process.env,
    FAREBOX_DATA: dataDir,
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
  };
  const service = spawn(process.execPath, ["dist/main.mjs"], {
    cwd: root,
    env: environment,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const deployment = await whenReady(service, join(dataDir, "dev.json"));
  const stop = async () => {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
    const reset = spawn(process.execPath, ["dist/cli.mjs", "reset"], {
      cwd: root,
      env: environment,
      stdio: "ignore",
    });
    await once(reset, "exit");
  };
  return { deployment, dataDir, stop };
}

/** `dev.json` is written when the service is ready, and not before. */
async function whenReady(service: ChildProcess, path: string): Promise<Deployment> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && service.exitCode === null) {
    const text = await readFile(path, "utf8").catch(() => null);
    if (text) return JSON.parse(text) as Deployment;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  service.kill("SIGTERM");
  throw new Error("the deployment did not start; its messages stand above");
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no free port")),
      );
    });
  });
}

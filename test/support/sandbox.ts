/** What makes a house a sandbox that can be played with: its chain's payer and miner, and the simulated provider. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxAccess } from "#api";
import type { SandboxParts } from "../../src/compose.ts";
import { startSandboxProvider } from "../../src/dev/provider-process.ts";
import { sandboxChain } from "../../src/dev/sandbox-chain.ts";
import { type DevChain, masterSecret } from "./dev-chain.ts";

/** `servicePort` is where the house will listen. */
export async function startSandbox(
  dev: DevChain,
  servicePort: number,
): Promise<{ readonly parts: SandboxParts; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), "farebox-sandbox-"));
  const access = sandboxAccess(masterSecret);
  const provider = await startSandboxProvider({ dataDir, access, servicePort, paceMs: 50 });
  return {
    parts: {
      chain: sandboxChain({ slug: "local", rpcUrl: dev.anvil.rpcUrl, masterSecret }),
      providerUrl: provider.baseUrl,
    },
    async stop() {
      await provider.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

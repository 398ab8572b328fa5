import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadArtifacts } from "../../contracts/index.ts";

const out = join(import.meta.dirname, "..", "..", "contracts", "out");

describe("loadArtifacts", () => {
  it("compiles nothing while the stamp matches, and gives ABI and code", async () => {
    const artifacts = await loadArtifacts();
    const stamp = await stat(join(out, "stamp"));
    await loadArtifacts();
    expect((await stat(join(out, "stamp"))).mtimeMs).toBe(stamp.mtimeMs);
    for (const { abi, bytecode, deployedBytecode } of Object.values(artifacts)) {
      expect(abi.length).toBeGreaterThan(0);
      expect(bytecode).toMatch(/^0x[0-9a-f]+$/);
      expect(deployedBytecode).toMatch(/^0x[0-9a-f]+$/);
    }
  });
});

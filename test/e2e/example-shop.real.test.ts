import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("npm run example:shop: an order is paid, the shop hears of it by webhook and ships once", async () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "examples/shop/run.ts"],
    { cwd, timeout: 110_000 },
  );
  expect(stderr).toBe("");
  expect(stdout).toContain("paid, told by webhook, shipped: a harbour chart");
  expect(stdout).toContain("payment.completed: 204");
  expect(stdout).toContain("one parcel");
});

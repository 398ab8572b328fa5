/** The example runs as its reader runs it: a deployment of its own, four weeks in under a minute. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("npm run example:subscriptions bills four cycles by mail, and its books equal the chain", async () => {
  const example = spawn(process.execPath, ["--import", "tsx", "examples/subscription-shop/run.ts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  for (const stream of [example.stdout, example.stderr]) stream.on("data", (data) => said.push(String(data)));
  const [code] = await once(example, "close");
  expect([code, said.join("")]).toEqual([0, expect.stringContaining("the books equal the chain")]);
});

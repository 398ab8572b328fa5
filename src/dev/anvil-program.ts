import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RunAs } from "./identity.ts";
import { placePrograms } from "./program-place.ts";

/** Path of the anvil binary that npm brought, or of a copy that `user` can run. */
export async function anvilProgram(user: RunAs, dataDir: string): Promise<string> {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const source = packageFolder(platform);
  const { version } = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
  const executable = join("bin", process.platform === "win32" ? "anvil.exe" : "anvil");
  const programs = {
    source,
    name: `anvil-${platform}-${version}`,
    executables: [executable],
    links: new Map(),
  };
  return join(await placePrograms(programs, user, dataDir), executable);
}

function packageFolder(platform: string): string {
  const parent = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  try {
    return dirname(createRequire(parent).resolve(`@foundry-rs/anvil-${platform}/package.json`));
  } catch (cause) {
    const hint = "install without --omit=optional, or set FAREBOX_CHAINS";
    throw new Error(`no chain node for ${platform} in node_modules: ${hint}`, { cause });
  }
}

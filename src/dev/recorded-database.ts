import { readFile } from "node:fs/promises";
import { devJsonPath } from "./dev-json.ts";
import { masterSecret } from "./master-secret.ts";

/** Database and secret of the local deployment that is running on `dataDir`. Rejects with one sentence when none is. */
export async function recordedDatabase(
  dataDir: string,
): Promise<{ readonly databaseUrl: string; readonly masterSecret: string }> {
  const text = await readFile(devJsonPath(dataDir), "utf8").catch(() => null);
  if (text === null)
    throw new Error(
      `No deployment is running on ${dataDir}. Start one with npm start, or set DATABASE_URL and FAREBOX_CHAINS.`,
    );
  const { databaseUrl } = JSON.parse(text) as { databaseUrl: string };
  return { databaseUrl, masterSecret: await masterSecret(dataDir) };
}

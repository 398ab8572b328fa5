import { MigrationProblem } from "#store";
import { ConfigProblem } from "./config.ts";

/** One line on a database that cannot be used, with what it or the system said; never a statement. */
export function databaseProblem(error: unknown): ConfigProblem {
  if (error instanceof MigrationProblem) return new ConfigProblem(error.message);
  const { code, message } = innermost(error) as Error & { readonly code?: unknown };
  const [line = ""] = message.split("\n");
  const said = [code, line.slice(0, 200)].filter(Boolean).join(": ");
  return new ConfigProblem(
    `The database of DATABASE_URL cannot be used (${said}). Set DATABASE_URL to a PostgreSQL that runs and whose user may create tables and roles.`,
  );
}

function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

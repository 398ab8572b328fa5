import { expect, it } from "vitest";
import { databaseProblem } from "../../src/database-problem.ts";

it("tells what the database said, and neither the statement nor its parameters", () => {
  const said = Object.assign(new Error('relation "mail" does not exist'), { code: "42P01" });
  const failed = new Error("Failed query: SELECT $1\nparams: secret", { cause: said });
  expect(databaseProblem(failed).message).toBe(
    'The database of DATABASE_URL cannot be used (42P01: relation "mail" does not exist). Set DATABASE_URL to a PostgreSQL that runs and whose user may create tables and roles.',
  );
});

/** The least that making an intent could cost: the same SQL in the same transaction, behind bare Hono.
 *  `node --import tsx bench/floor-server.ts --port N --statements FILE --database URL --id ULID…`. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";
import { ulid } from "ulid";
import { type Statement, valuesOf } from "./statements.ts";

const { values: options } = parseArgs({
  options: {
    port: { type: "string" },
    statements: { type: "string" },
    database: { type: "string" },
    made: { type: "string", multiple: true },
  },
});
const { port, statements: file, database, made = [] } = options;
if (!port || !file || !database) throw new Error("--port, --statements and --database are needed");
const { statements, answer, key } = JSON.parse(readFileSync(file, "utf8")) as {
  readonly statements: readonly Statement[];
  readonly answer: unknown;
  readonly key: string;
};
const pool = new pg.Pool({ connectionString: database, max: 12, options: "-c role=farebox_app" });
const inTransaction = statements.findIndex(({ text }) => text === "BEGIN");
const before = statements.slice(0, inTransaction);
const within = statements.slice(inTransaction);

/** One request's ids in the place of the recorded one's. */
function replacer(): (text: string) => string {
  const fresh = made.map((old) => [old, ulid()] as const);
  const ownKey = ulid();
  return (text) =>
    fresh.reduce((known, [old, id]) => known.replaceAll(old, id), text.replaceAll(key, ownKey));
}

const app = new Hono();
app.get("/health", (c) => c.json({ status: "ok" }));
app.post("/v1/payment-intents", async (c) => {
  await c.req.json();
  const replace = replacer();
  for (const statement of before) await pool.query(statement.text, [...valuesOf(statement, replace)]);
  const client = await pool.connect();
  try {
    for (const statement of within) await client.query(statement.text, [...valuesOf(statement, replace)]);
  } finally {
    client.release();
  }
  return c.json(answer as object, 201);
});
const server = serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" });
process.on("SIGTERM", () => server.close(() => process.exit(0)));

/** A client made from the OpenAPI document by public tools: it compiles, refuses what the document refuses, and works. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ServerType, serve } from "@hono/node-server";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectPayable } from "../../facilitator/payable/project.ts";
import { sharedDatabase } from "../support/db.ts";
import { newCaller } from "./caller.ts";
import { fakeFacilitator, world } from "./world.ts";

const client = `
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const [, , baseUrl = "", key = ""] = process.argv;
const api = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
const body = { url: "https://shop.example/thing", price: { amount: "0.05", asset: "USD" } };
const header = { "idempotency-key": "order-1042" };

const first = await api.POST("/v1/x402/resources", { params: { header }, body });
if (first.error) throw new Error(first.error.code);
const again = await api.POST("/v1/x402/resources", { params: { header }, body });
const price: string = first.data.price.display;
const { data: list } = await api.GET("/v1/x402/resources", { params: { query: { limit: 10 } } });
const missing = await api.GET("/v1/x402/resources/{id}", { params: { path: { id: "x402r_none" } } });
const issued = await api.POST("/v1/api-keys", { body: { name: "reader", preset: "read-only" } });
const told = {
  price,
  replayed: again.response.headers.get("Idempotent-Replayed"),
  same: again.data?.id === first.data.id,
  listed: list?.resources.map(({ url }) => url),
  missing: missing.error?.code,
  permissions: issued.data?.permissions.every((each) => each.endsWith(":read")),
};
process.stdout.write(JSON.stringify(told));
`;

/** What the types refuse, a line each. */
const mistakes = [
  `api.POST("/v1/x402/resources", { body: { url: "https://a.example", price: { amount: 5, asset: "USD" } } });`,
  `api.POST("/v1/x402/resources", { body: { price: { amount: "5", asset: "USD" } } });`,
  `api.POST("/v1/payouts", { body: { amount: { amount: "1", asset: "USDC" }, chain: "base", destination: "0x" } });`,
  `api.POST("/v1/api-keys", { body: { name: "n", preset: "everything" } });`,
  `api.GET("/v1/nothing");`,
];

const repo = join(import.meta.dirname, "../..");
let folder = "";
let server: ServerType;
let baseUrl = "";
const database = sharedDatabase();
beforeAll(async () => {
  // Inside the repository, so that the client finds its packages.
  const cache = join(repo, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "farebox-typed-client-"));
  const { app } = world({ db: database.db, facilitator: fakeFacilitator({ project: projectPayable }) });
  baseUrl = await new Promise((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
  });
  const document = await (await app.request("/openapi.json")).text();
  await writeFile(
    join(folder, "api.ts"),
    astToString(await openapiTS(document, { defaultNonNullable: false })),
  );
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Exit code and output of the compiler, as strict as this repository. */
async function compile(file: string): Promise<string> {
  const config = {
    extends: join(repo, "tsconfig.json"),
    compilerOptions: { types: ["node"], typeRoots: [join(repo, "node_modules/@types")] },
    include: [],
    files: [file],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(repo, "node_modules/typescript/bin/tsc");
  const run = promisify(execFile)(process.execPath, [tsc, "-p", folder], { cwd: folder });
  return run.then(
    () => "",
    (failed: { readonly stdout: string }) => failed.stdout,
  );
}

describe("a typed client", () => {
  it("compiles and calls: registers once, lists, reads a refusal by its code, issues a key", async () => {
    const file = join(folder, "client.ts");
    await writeFile(file, client);
    expect(await compile("client.ts")).toBe("");
    const { key } = await newCaller(database.db);
    const args = ["--import", "tsx", file, baseUrl, key];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: repo });
    expect(JSON.parse(stdout)).toEqual({
      price: "$0.05",
      replayed: "true",
      same: true,
      listed: ["https://shop.example/thing"],
      missing: "not_found",
      permissions: true,
    });
  });

  it("does not compile where the request is wrong", async () => {
    const [opening = ""] = client.split("const body");
    await writeFile(
      join(folder, "wrong.ts"),
      [opening, ...mistakes.map((line) => `void ${line}`)].join("\n"),
    );
    const told = await compile("wrong.ts");
    const lines = [...told.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line));
    const first = opening.split("\n").length + 1;
    expect([...new Set(lines)]).toEqual(mistakes.map((_, i) => first + i));
  });
});

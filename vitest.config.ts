import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node";
import { scratch } from "./test/support/scratch.ts";

// For this process, its workers, and what they start.
process.env.TMPDIR = scratch();
// A hundred programs are started: what the first of a kind compiled, the others read.
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, "node_modules/.cache/compiled");

/** A test that starts a part of its own (PostgreSQL, a chain, a compiler, the whole service). */
const real = "test/**/*.real.test.ts";
/** A test that takes minutes, or both cores, by design: lying endpoints, mutants, fuzz. `npm run test:long`. */
const long = "test/**/*.long.test.ts";

/** Where the machine's own Node runs the tests and does not read types, statements cost more and say the same. */
const { typescript: readsTypes } = process.features as { readonly typescript?: string | false };
const preloaded = readsTypes
  ? ["--import", new URL("test/support/one-drizzle.ts", import.meta.url).href]
  : [];

/** Begun last, one of these would run on alone for minutes: those that take longest begin first. */
const longest = [
  /simulation\.real/,
  /(payments|bills)\.property/,
  /(cli|main|kill|torture|claim|promises|reviews)\.real|(reference|selling|journeys|states|pay)\.browser/,
];
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((names) => names.test(moduleId));
      return found < 0 ? longest.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Says what failed first of a test that passed when it was tried again: the usual report says only that it was. */
const firstFailures: Reporter = {
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    if (state !== "passed") return;
    for (const { stack, message } of errors)
      process.stderr.write(
        `failed first: ${test.module.relativeModuleId} > ${test.fullName}\n${stack ?? message}\n`,
      );
  },
};

/** `npm test` runs the fast tests and the real ones, `npm run test:long` the long ones, `vitest run --project fast` what
 *  needs no part beside Node. The fast tests go first; real parts wait more than they work, so four files go at once on
 *  two cores. The files of a worker share what they import: to load it anew took most of the fast tests' time. */
export default defineConfig({
  test: {
    environment: "node",
    reporters: ["default", firstFailures],
    restoreMocks: true,
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: [real, long],
          testTimeout: 10_000,
          hookTimeout: 30_000,
          maxWorkers: 2,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "real",
          include: [real],
          globalSetup: ["test/support/database-server.ts"],
          execArgv: preloaded,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // On a busy machine a part may answer too late. What failed first is printed all the same (`firstFailures`).
          retry: 2,
          maxWorkers: 4,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "long",
          include: [long],
          globalSetup: ["test/support/database-server.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

/** A test that starts a part of its own (PostgreSQL, a chain, a compiler, the whole service). */
const real = "test/**/*.real.test.ts";

/** `vitest run` runs everything, `vitest run --project fast` what needs no part beside Node. The fast tests go first;
 *  real parts wait more than they work, so three files go at once on two cores. */
export default defineConfig({
  test: {
    environment: "node",
    restoreMocks: true,
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: [real],
          testTimeout: 10_000,
          hookTimeout: 30_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "real",
          include: [real],
          globalSetup: ["test/support/database-server.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

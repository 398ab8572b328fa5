/** The official conformance suite: what of it applies to a product on the product's own endpoint, and all of it on
 *  the same wiring with the suite's fixtures behind it. */
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEras } from "../../mcp/eras.ts";
import { guardOf } from "../../mcp/guard.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { startWorld, type World } from "../support/house.ts";
import { fixtureServer } from "./conformance/fixtures.ts";
import { type Era, type Outcome, runScenario, runSuite } from "./conformance/suite.ts";

/** Scenarios that call no fixture tool, so that a product can pass them. */
const applicable: Readonly<Record<Era, readonly string[]>> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    // Without sessions these two end well, with a warning.
    "server-sse-multiple-streams",
    "server-sse-polling",
  ],
  "2026-07-28": [
    "http-header-validation",
    "caching",
    "sep-2164-resource-not-found",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "input-required-result-unsupported-methods",
    "input-required-result-missing-input-response",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
  ],
};
const eras = ["2025-11-25", "2026-07-28"] as const;

const failing = (outcomes: ReadonlyMap<string, Outcome>) =>
  [...outcomes].filter(([, { failed }]) => failed > 0).map(([name]) => name);

describe("the product's endpoint", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  it.each(eras)("passes every scenario of %s that calls no fixture", async (era) => {
    const outcomes = await runSuite(era, `${world.baseUrl}/x402/mcp`);
    const ours = Object.fromEntries(applicable[era].map((name) => [name, outcomes.get(name)?.failed]));
    expect(ours).toEqual(Object.fromEntries(applicable[era].map((name) => [name, 0])));
    const passed = applicable[era].reduce((sum, name) => sum + (outcomes.get(name)?.passed ?? 0), 0);
    expect(passed).toBeGreaterThan(6);
  });

  it("is stateless in every check that needs no fixture", async () => {
    const { passed, failed, notTestable } = await runScenario(
      "server-stateless",
      `${world.baseUrl}/x402/mcp`,
    );
    expect(failed).toEqual([
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
    ]);
    expect(notTestable).toBe(failed.length);
    expect(passed.length).toBeGreaterThanOrEqual(24);
  });
});

describe("the same wiring with the suite's fixtures", () => {
  let url: string;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/mcp`;
    const eras = openEras(fixtureServer, () => {});
    const guard = guardOf({ baseUrl: url, version: "0.0.0" });
    const answer = async (request: Request) => {
      const { method, headers } = request;
      return (
        guard.refuse(request) ??
        eras.serve(new Request(request.url, { method, headers }), await request.json())
      );
    };
    const server = serve({ fetch: answer, port });
    close = async () => {
      server.close();
      await eras.close();
    };
  });
  afterAll(() => close());

  it("fails nothing of 2025-11-25 but what needs a stream to the client in the middle of a call", async () => {
    const outcomes = await runSuite("2025-11-25", url);
    // The old leg answers with one JSON body, so that every caller can read it; nothing of ours speaks in between.
    expect(failing(outcomes)).toEqual([
      "tools-call-with-logging",
      "tools-call-with-progress",
      "tools-call-sampling",
      "tools-call-elicitation",
      "elicitation-sep1034-defaults",
      "elicitation-sep1330-enums",
    ]);
    expect(outcomes.size).toBeGreaterThanOrEqual(32);
  });

  it("fails nothing that 2026-07-28 requires", async () => {
    const outcomes = await runSuite("2026-07-28", url);
    // Tasks are an optional extension, which is not offered.
    expect(failing(outcomes).filter((name) => !name.startsWith("tasks-"))).toEqual([]);
    expect(outcomes.size).toBeGreaterThanOrEqual(50);
  });
});

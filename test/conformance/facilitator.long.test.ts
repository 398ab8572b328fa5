/** The eight rules and the attacks, run against ours; and against facilitators that must be found wanting. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sharedDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse } from "../support/house.ts";
import { expectAtRest } from "../support/scene.ts";
import { runChecks } from "./facilitator/check.ts";
import { type LocalChain, localTrial } from "./facilitator/local.ts";
import { type LyingNode, startLyingNode } from "./facilitator/lying-node.ts";
import type { Offer } from "./facilitator/payment.ts";
import { report, violations } from "./facilitator/report.ts";
import { rules } from "./facilitator/rules/index.ts";
import { startStub } from "./facilitator/stubs.ts";

vi.setConfig({ testTimeout: 300_000 });

const database = sharedDatabase();
let dev: DevChain;
let node: LyingNode;
let running: RunningHouse;
let baseUrl: string;
let offer: Offer;
beforeAll(async () => {
  dev = await startDevChain();
  node = await startLyingNode(dev.anvil.rpcUrl);
  running = await startHouse({ ...dev, config: { ...dev.config, rpcUrls: [node.url] } }, database);
  const resource = await (await newMerchant(running)).register();
  const [rail] = resource.accepts.filter(({ asset }) => asset === "USDC");
  if (!rail) throw new Error("the resource has no rail in USDC");
  baseUrl = `${running.baseUrl}/x402/resources/${resource.id}`;
  offer = {
    url: resource.url,
    option: {
      scheme: "exact",
      network: "eip155:31337",
      amount: "10000",
      asset: rail.contract,
      payTo: rail.payTo,
      maxTimeoutSeconds: resource.maxTimeoutSeconds,
      extra: { name: "USD Coin", version: "2" },
    },
  };
});
afterAll(async () => {
  await running.stop();
  await node.stop();
  await dev.stop();
});

const ground = (): LocalChain => ({
  rpcUrl: dev.anvil.rpcUrl,
  chainId: dev.anvil.chainId,
  contracts: dev.contracts,
  node,
});

/** Without those that wait for what a wrong facilitator will never do. */
const quick = rules.map((rule) => ({
  ...rule,
  checks: rule.checks.filter(
    ({ id }) => !/^(SR4[.](mined|receipt)|SR5[.]at-once|SR6[.]fees|beyond[.]over)/.test(id),
  ),
}));

describe("the conformance suite", () => {
  it.each([
    ["agrees to everything", true],
    ["refuses everything", false],
  ])("finds that a facilitator which %s keeps no rule", async (_name, says) => {
    const stub = await startStub(says);
    try {
      // its clock is ours to keep: the next facilitator stands on the same chain
      const trial = await localTrial(ground(), { baseUrl: stub.url, offer, signers: [dev.lane] });
      const findings = await runChecks({ ...trial, canMoveClock: false }, quick);
      const broken = new Set(violations({ name: "stub", findings }).map(({ rule }) => rule));
      expect(broken).toEqual(new Set(rules.map(({ id }) => id)));
    } finally {
      await stub.stop();
    }
  });

  it("finds no violation of ours, and the books equal the chain afterwards", async () => {
    const trial = await localTrial(ground(), { baseUrl, offer, signers: [dev.lane] });
    const judged = { name: "farebox", findings: await runChecks(trial, rules) };
    const broken = violations(judged).map(({ check }) => check.id);
    expect(broken, report([judged], rules)).toEqual([]);
    expect(judged.findings.length).toBeGreaterThan(90);
    await expectAtRest({ ...running, dev, database });
  });
});

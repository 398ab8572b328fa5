/** A little of `npm run fuzz`, in every run of the tests: every route and tool is tried, and the books stay right. */
import { zodToOpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { newMerchant, sharedWorld } from "../support/house.ts";
import { expectAtRest } from "../support/scene.ts";
import { agentShots } from "./agents.ts";
import { fire } from "./gun.ts";
import { idsOf } from "./ids.ts";
import { fireRaw } from "./raw.ts";
import { kinds } from "./report.ts";
import { type OpenApi, routeShots } from "./routes.ts";
import type { Keys } from "./shot.ts";
import { toolsOf } from "./tools.ts";

vi.setConfig({ testTimeout: 300_000 });

const world = sharedWorld({ withSandbox: true });
let keys: Keys;
beforeAll(async () => {
  const [mine, foreign] = [await newMerchant(world), await newMerchant(world)];
  const made = await mine.call("/v1/api-keys", { method: "POST", body: JSON.stringify(publishableKey) });
  const { key } = (await made.json()) as { key: string };
  keys = { secret: mine.secretKey, publishable: key, foreign: foreign.secretKey };
});

/** How many there are that the document may speak of: whatever is made by a method of a schema is kept as long as the
 *  process. */
const schemas = () => (zodToOpenAPIRegistry._map as unknown as Map<object, unknown>).size;

const publishableKey = { name: "fuzz", kind: "pk" };

describe("requests that nobody should send", () => {
  it("are answered so that the caller can act on it, by every route and tool", async () => {
    const { baseUrl } = world;
    const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApi;
    const shots = new Map([...routeShots(document, keys), ...agentShots(await toolsOf(baseUrl), keys)]);
    const spared = await idsOf(baseUrl, keys);
    const schemasBefore = schemas();
    const volley = { baseUrl, shots, spared, seed: 20_260_811, requests: 3_600, seconds: 25, concurrency: 8 };
    const { found, requests, routes } = await fire(volley);
    expect(found, kinds(found).join("\n")).toEqual([]);
    expect(requests).toBeGreaterThan(shots.size);
    expect(routes.size).toBeGreaterThan(100);
    expect(schemas(), "schemas made for a request are never let go").toBe(schemasBefore);
    await expectAtRest(world);
  });

  it("are refused by the server itself where they are no HTTP", async () => {
    const answers = await fireRaw(world.baseUrl, { count: 200, seed: 1 });
    expect([...answers.keys()].filter((status) => status.startsWith("5"))).toEqual([]);
    expect(answers.get("400")).toBeGreaterThan(50);
    expect((await fetch(`${world.baseUrl}/health/ready`)).status).toBe(200);
  });
});

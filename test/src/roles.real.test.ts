/** Two processes that answer and two that work, on one database and one chain. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { get, sharedWorld, until } from "../support/house.ts";
import { type ServiceProcess, standBy } from "../support/processes.ts";

vi.setConfig({ testTimeout: 300_000 });

const LANES = 2;
/** Leases so long that no process of a busy machine loses one by being slow, and time for its answers. */
const SETTINGS = { leaseSeconds: 5, maxWaitMs: 60_000 };
let webs: readonly ServiceProcess[] = [];
let leader: ServiceProcess;
let other: ServiceProcess;

/** Who has the leases of the chain and its lanes. */
async function holders(): Promise<readonly (string | null)[]> {
  const rows = await world.database.query<{ holder: string | null }>(
    `SELECT lease_holder AS holder FROM observer WHERE lease_until > now()
     UNION ALL SELECT lease_holder FROM signer WHERE lease_until > now()`,
  );
  return rows.map(({ holder }) => holder);
}

/** The house in this process only looks. */
const world = sharedWorld({ role: "web", blockTimeSeconds: 1 });
beforeAll(async () => {
  const roles = ["worker", "worker", "web", "web"] as const;
  const [first, ...rest] = await Promise.all(
    roles.map((role) => standBy(world.dev, world.database, { role, lanes: LANES, settings: SETTINGS })),
  );
  if (!first) throw new Error("no process");
  leader = await first.start();
  await until(async () => (await holders()).length === 1 + LANES, "the first worker has every lease", 60_000);
  const started = await Promise.all(rest.map((each) => each.start()));
  other = started[0] ?? leader;
  webs = started.slice(1);
}, 300_000);
afterAll(async () => {
  await Promise.all([leader, other, ...webs].map((each) => each?.stop()));
});

describe("a process with a role", () => {
  it("answers everything as web, and as worker whether it is well", async () => {
    for (const { baseUrl } of webs) {
      expect(await get(baseUrl, "/health/ready")).toMatchObject({ status: 200, body: { status: "ready" } });
      expect(await get(baseUrl, "/x402/supported")).toMatchObject({ status: 200, body: { kinds: [{}] } });
    }
    for (const { baseUrl } of [leader, other]) {
      expect(await get(baseUrl, "/health")).toMatchObject({ status: 200, body: { status: "ok" } });
      expect(await get(baseUrl, "/health/ready")).toMatchObject({ status: 200 });
      for (const path of ["/x402/supported", "/v1/merchant", "/openapi.json"])
        expect(await get(baseUrl, path)).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });
});

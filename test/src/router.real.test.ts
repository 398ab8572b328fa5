/** What a process makes of the router that its chain is configured with. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../support/authorization.ts";
import { sharedDatabase } from "../support/db.ts";
import { type DevChain, silentLog, startDevChain } from "../support/dev-chain.ts";
import { get, type RunningHouse, startHouse } from "../support/house.ts";

const database = sharedDatabase();
let dev: DevChain;
beforeAll(async () => {
  dev = await startDevChain();
});
afterAll(async () => {
  await dev?.stop();
});

/** What a house on that router says of itself. */
async function standing(router: string | undefined) {
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: unknown, message: string) => void errors.push(message) };
  const config = { ...dev.config, router };
  const running: RunningHouse = await startHouse({ ...dev, config }, database, { log });
  try {
    const { status, body } = await get(running.baseUrl, "/health/ready");
    const rails = running.house.facilitator.rails();
    return { errors, status, refused: body.checks.refusedRouters, routers: rails.map((rail) => rail.router) };
  } finally {
    await running.stop();
  }
}

describe("the configured router", () => {
  it("is told with every rail of the chain when it is our operator's", async () => {
    expect(await standing(dev.contracts.router)).toEqual({
      errors: [],
      status: 200,
      refused: [],
      routers: Array(3).fill(checksum(dev.chain.row.router ?? newKey().address)),
    });
  });

  it("may be left out", async () => {
    const routers = [null, null, null];
    expect(await standing(undefined)).toEqual({ errors: [], status: 200, refused: [], routers });
  });

  it.each<[string, () => string, RegExp]>([
    ["nobody's", () => newKey().address, /got an address without code$/],
    ["no router", () => dev.usdc, /expected the operator 0x[0-9a-fA-F]{40}, got none$/],
  ])("is refused when it is %s: the chain goes on without, and the operator is told", async (_, at, says) => {
    const { errors, status, refused, routers } = await standing(at());
    expect(routers).toEqual([null, null, null]);
    expect(status).toBe(200);
    expect(refused).toEqual([{ chain: "local", problem: expect.stringMatching(says) }]);
    expect(errors).toEqual([`router refused: ${refused[0].problem}`]);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { resourceId, v2Body, world } from "../api/world.ts";
import { shapeRows } from "./bad-input/shape.ts";
import { textRows } from "./bad-input/text.ts";

/** The rows of `bad-input.real.test.ts` that need neither chain nor books: there is nothing behind this HTTP. */
describe.each(["/x402", `/x402/resources/${resourceId}`])("unreadable on %s", (base) => {
  const rows = [...textRows, ...shapeRows].map((row) => [row.name, row.reason, row] as const);
  const { app, facilitator, log } = world();
  beforeEach(() => {
    facilitator.asked.length = 0;
    log.lines.length = 0;
  });

  it.each(rows)("%s: %s, on both verbs, and the engine is not asked", async (_name, reason, row) => {
    const { status = 200, code, change, headers } = row;
    const sent = change(v2Body);
    const body = typeof sent === "string" || sent instanceof Buffer ? sent : JSON.stringify(sent);
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
    const [verified, settled] = [
      await app.request(`${base}/verify`, init),
      await app.request(`${base}/settle`, init),
    ];
    const problem = code === undefined ? {} : { code, status };
    expect([verified.status, settled.status]).toEqual([status, status]);
    expect(await verified.json()).toMatchObject({ ...problem, isValid: false, invalidReason: reason });
    expect(await settled.json()).toMatchObject({
      ...problem,
      success: false,
      errorReason: reason,
      transaction: "",
      network: "",
    });
    expect(facilitator.asked).toEqual([]);
    expect(log.lines).toEqual([]);
  });
});

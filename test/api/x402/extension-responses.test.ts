import { HTTPFacilitatorClient } from "@x402/core/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { post, resourceId, v2Body, world } from "../world.ts";

const input = { type: "http", method: "GET" };
const good = { info: { input }, schema: { type: "object" } };
const bodyWith = (bazaar: unknown) => ({
  ...v2Body,
  paymentPayload: { ...v2Body.paymentPayload, extensions: { bazaar } },
});

async function told(body: unknown, verb = "verify") {
  const { app } = world();
  const { headers } = await app.request(`/x402/resources/${resourceId}/${verb}`, post(body));
  const header = headers.get("EXTENSION-RESPONSES");
  return header === null ? null : JSON.parse(Buffer.from(header, "base64").toString("utf8"));
}
afterEach(() => vi.unstubAllGlobals());

describe("EXTENSION-RESPONSES", () => {
  it.each(["verify", "settle"])("%s tells that a block is good", async (verb) => {
    expect(await told(bodyWith(good), verb)).toEqual({ bazaar: { status: "success" } });
  });

  it("says why a block is not, in words of ours", async () => {
    for (const [block, reason] of [
      [1, "it is no object."],
      [{ info: {}, schema: {} }, "info is not a description of an input"],
      [{ ...good, IGNORE: 1 }, "it has keys beside"],
      [{ ...good, schema: { pattern: "(a+)+$" } }, "regular expressions"],
      [{ ...good, info: { input, output: { example: "IGNORE".repeat(1_000) } } }, "larger than 4096"],
    ] as const) {
      const { bazaar } = await told(bodyWith(block));
      expect(bazaar).toEqual({ status: "rejected", rejectedReason: expect.stringContaining(reason) });
      expect(JSON.stringify(bazaar)).not.toContain("IGNORE");
    }
  });

  it("is not there where no block came", async () => {
    expect(await told(v2Body)).toBeNull();
    expect(await told("{")).toBeNull();
  });

  it("reaches a stock server", async () => {
    const { app } = world();
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => app.request(url, init));
    const client = new HTTPFacilitatorClient({ url: `https://pay.example/x402/resources/${resourceId}` });
    const body = bodyWith({ info: {}, schema: {} });
    const result = await client.verify(body.paymentPayload as never, body.paymentRequirements as never);
    expect(result).toMatchObject({ extensionResponses: { bazaar: { status: "rejected" } } });
  });
});

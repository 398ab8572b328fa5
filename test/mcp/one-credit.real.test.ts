import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  books,
  newMerchant,
  newPayer,
  post,
  type Resource,
  sharedWorld,
  signPayment,
} from "../support/house.ts";
import { type Agent, newAgent, oldAgent } from "./world.ts";

const world = sharedWorld();
let resource: Resource;
let agents: readonly Agent[];
beforeAll(async () => {
  resource = await (await newMerchant(world)).register();
  agents = [await oldAgent(world.baseUrl), await newAgent(world.baseUrl, "pinned")];
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
});

interface Told {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly transaction: string;
}

describe("twenty settles of one authorization at once, half over REST and half over MCP", () => {
  it("make one credit and one success; the others name the same transaction", async () => {
    const payer = await newPayer(world.dev);
    const { body } = await signPayment(world.dev, payer, resource);
    const overRest = async (): Promise<Told> =>
      (await post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body)).body;
    const overMcp = async (i: number): Promise<Told> => {
      const { paymentPayload } = body;
      const args = { resourceId: resource.id, paymentPayload };
      return (await agents[i % 2]?.call("settle_payment", args))?.structuredContent;
    };
    const told = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? overRest() : overMcp((i - 1) / 2))),
    );
    const won = told.filter(({ success }) => success);
    expect(won).toHaveLength(1);
    const lost = told.filter(({ success }) => !success);
    expect(new Set(lost.map(({ errorReason }) => errorReason))).toEqual(new Set(["duplicate_settlement"]));
    expect(new Set(told.map(({ transaction }) => transaction)).size).toBe(1);
    expect(await books(world.dev, world.database)).toMatchObject({
      balanced: true,
      treasury: 10_000n,
      chain: 10_000n,
    });
    const credits = await world.database.query("SELECT 1 FROM claim WHERE credit_state <> 'none'");
    expect(credits).toHaveLength(1);
  });
});

describe("a batch of three identical settles", () => {
  it("has one success: each call asks for itself", async () => {
    const payer = await newPayer(world.dev);
    const { body } = await signPayment(world.dev, payer, resource);
    const params = {
      name: "settle_payment",
      arguments: { resourceId: resource.id, paymentPayload: body.paymentPayload },
    };
    const batch = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params }));
    const response = await fetch(`${world.baseUrl}/x402/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(batch),
    });
    const answers = (await response.json()) as { result: { structuredContent: Told } }[];
    const told = answers.map(({ result }) => result.structuredContent);
    expect(told.map(({ success }) => success).sort()).toEqual([false, false, true]);
    expect(new Set(told.map(({ transaction }) => transaction)).size).toBe(1);
  });
});

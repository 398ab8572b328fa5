import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveMerchant } from "../../examples/demo/merchant.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { untilSupported } from "../conformance/stock-merchant.ts";
import { newMerchant, newPayer, type Payer, sharedWorld } from "../support/house.ts";
import { followNext, meter } from "./agent-script.ts";
import { type Agent, newAgent, oldAgent, projectPayable } from "./world.ts";

const world = sharedWorld();
let shop: Awaited<ReturnType<typeof serveMerchant>>;
let merchantId: string;
let payer: Payer;
beforeAll(async () => {
  const merchant = await newMerchant(world);
  merchantId = merchant.id;
  payer = await newPayer(world.dev);
  const resource = await merchant.register({
    url: `http://127.0.0.1:${await freePort()}/weather`,
    description: "Tomorrow's weather in Lisbon",
    listed: true,
  });
  await untilSupported(world);
  shop = await serveMerchant(
    { chain: { network: "eip155:31337" } } as never,
    `${world.baseUrl}/x402/resources/${resource.id}`,
    resource as never,
  );
});
afterAll(async () => {
  shop.close();
});

const eras: readonly [string, (spy: typeof fetch) => Promise<Agent>][] = [
  ["2025-11-25", (spy) => oldAgent(world.baseUrl, spy)],
  ["2026-07-28", (spy) => newAgent(world.baseUrl, "pinned", spy)],
];

describe.each(eras)("an agent that knows nothing but names, schemas and next, in %s", (era, connect) => {
  it("buys from a resource and pays an invoice, from search to confirmed status, in under 10,000 tokens each", async () => {
    const invoice = await projectPayable(world, merchantId, { kind: "invoice", listed: true });
    const counts: Record<string, number> = {};
    const journeys = {
      resource: {
        start: { tool: "search_resources", args: { query: "weather Lisbon" } },
        called: ["search_resources", "get_payment_required", "verify_payment", "get_payment_status"],
      },
      invoice: {
        start: { tool: "search_payables", args: { kind: "invoice" } },
        called: ["search_payables", "get_payable", "pay_payable", "get_payment_status"],
      },
    };
    for (const [what, { start, called }] of Object.entries(journeys)) {
      const { spy, tokens } = meter();
      const agent = await connect(spy);
      expect(agent.version).toBe(era);
      const journey = await followNext(agent, payer, start);
      await agent.close();
      expect(journey.called).toEqual(called);
      expect(["settled", "final"]).toContain(journey.last.status);
      counts[what] = tokens();
    }
    process.stdout.write(`tool traffic in ${era}, tokens: ${JSON.stringify(counts)}\n`);
    expect(Math.max(...Object.values(counts))).toBeLessThan(10_000);
    const state = await world.house.facilitator.offer({ by: "id", id: invoice.id });
    expect(state?.state).toBe("paid");
  });
});

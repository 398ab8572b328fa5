import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, get, type Merchant, newMerchant, sharedWorld, until } from "../../support/house.ts";
import { askingFor, type McpEndpoint, serveMcp } from "../../support/mcp-endpoint.ts";

const world = sharedWorld();
let shop: Merchant;
let server: McpEndpoint;
/** What the tool asks for; nothing while it is given away. */
let required: object | null;
beforeEach(async () => {
  shop = await newMerchant(world);
  required = null;
  server = await serveMcp((tools) => {
    tools.registerTool("forecast", {}, () =>
      required ? askingFor(required) : { content: [{ type: "text", text: "sunny" }] },
    );
  });
  server.wellKnown = { merchantId: shop.id };
});
afterEach(() => server.close());

const { bazaar } = declareDiscoveryExtension({ toolName: "forecast", inputSchema: { type: "object" } });
/** As servers declared it before the key was called `toolName`. */
const older = JSON.parse(JSON.stringify(bazaar).replaceAll('"toolName"', '"tool"'));
const terms = (changes: object = {}) => ({
  url: server.url,
  price: { amount: "0.01", asset: "USD" },
  description: "A forecast",
  extensions: { bazaar },
  ...changes,
});

async function write(path: string, body: object): Promise<Answer["body"]> {
  const response = await shop.call(path, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}
async function askAsRegistered(id: string): Promise<void> {
  const { headers } = await get(world.baseUrl, `/x402/resources/${id}/payment-required`);
  const text = Buffer.from(headers.get("PAYMENT-REQUIRED") ?? "", "base64").toString("utf8");
  required = { ...JSON.parse(text), resource: { url: "mcp://tool/forecast" } };
}
async function itemOf(id: string, filter = "") {
  const { body } = await get(world.baseUrl, `/x402/resources?limit=100&type=mcp${filter}`);
  return body.items.find((item: { id: string }) => item.id === id);
}

describe("a listed tool of an MCP server", () => {
  it("is live once it asks for what was registered, under the older key of its name as well", async () => {
    const { id, findings, extensions } = await write(
      "/v1/x402/resources",
      terms({ extensions: { bazaar: older } }),
    );
    expect([findings, extensions]).toEqual([[], { bazaar }]);
    await askAsRegistered(id);
    await write(`/v1/x402/resources/${id}/list`, {});
    await until(async () => (await itemOf(id))?.trust.lastProbe, "the first probe");
    const live = await itemOf(id, "&live=true");
    expect(live).toMatchObject({
      type: "mcp",
      trust: { hostVerified: true, lastProbe: { ok: true, status: 402 } },
      extensions: { bazaar: { info: { input: { toolName: "forecast" } } } },
    });
    expect(server.open.size).toBe(0);
  });

  it("that is given away is marked, and told to its merchant", async () => {
    const { id } = await write("/v1/x402/resources", terms({ listed: true }));
    await until(async () => (await itemOf(id))?.trust.lastProbe, "the first probe");
    expect((await itemOf(id)).trust.lastProbe).toMatchObject({ ok: false, status: 200 });
    expect(await itemOf(id, "&live=true")).toBeUndefined();
    const trial = await write("/v1/x402/resources/probe", terms());
    expect(trial).toMatchObject({ ok: false, status: 200, findings: [{ code: "probe_not_402" }] });
  });

  it("is not called at a host that names somebody else", async () => {
    server.wellKnown = { merchantId: (await newMerchant(world)).id };
    const trial = await write("/v1/x402/resources/probe", terms());
    expect(trial).toMatchObject({ ok: false, findings: [{ code: "probe_method_withheld" }] });
    expect(server.requests).toContain("POST tools/list");
    expect(server.requests).not.toContain("POST tools/call");
  });
});

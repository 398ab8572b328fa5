import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Payable } from "#facilitator";
import { newMerchant, newPayer, type Payer, type Resource, sharedWorld } from "../support/house.ts";
import {
  type Agent,
  type ListedTool,
  newAgent,
  oldAgent,
  projectPayable,
  type Shown,
  signRequired,
} from "./world.ts";

const world = sharedWorld();
let merchantId: string;
let resource: Resource;
let payer: Payer;
beforeAll(async () => {
  const merchant = await newMerchant(world);
  merchantId = merchant.id;
  resource = await merchant.register({ listed: true, description: "The weather of tomorrow" });
  payer = await newPayer(world.dev, 100_000_000n);
});

const link = (): Promise<Payable> =>
  projectPayable(world, merchantId, { kind: "payment-link", listed: true });

const makers = [
  ["the v1 client", "2025-11-25", (url: string) => oldAgent(url)],
  ["the v2 client by default", "2025-11-25", (url: string) => newAgent(url, "default")],
  ["the v2 client that negotiates", "2026-07-28", (url: string) => newAgent(url, "auto")],
  ["the v2 client pinned to the new era", "2026-07-28", (url: string) => newAgent(url, "pinned")],
] as const;

describe.each(makers)("%s", (_, version, connect) => {
  let agent: Agent;
  let tools: ReadonlyMap<string, ListedTool>;

  beforeAll(async () => {
    agent = await connect(world.baseUrl);
    tools = new Map((await agent.listTools()).map((tool) => [tool.name, tool]));
  });
  afterAll(() => agent.close());

  /** Calls a tool and holds its answer against the schema that the list declares. */
  async function use(name: string, args: object): Promise<Shown["structuredContent"]> {
    const result = await agent.call(name, args);
    expect(result.isError, `${name}: ${result.content[0]?.text}`).not.toBe(true);
    const { outputSchema } = tools.get(name) ?? {};
    if (!outputSchema) throw new Error(`${name} declares no output`);
    const { valid, errorMessage } = new AjvJsonSchemaValidator().getValidator(outputSchema)(
      result.structuredContent,
    );
    expect(valid, errorMessage).toBe(true);
    // Hosts that show only one of the two show the same facts.
    expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
    expect(result.structuredContent.next.text).toEqual(expect.any(String));
    return result.structuredContent;
  }

  it("speaks the version it should and is told how this works", () => {
    expect(agent.version).toBe(version);
    expect(agent.instructions).toMatch(/never takes a private key/);
    expect(agent.instructions.length).toBeLessThan(1_500);
  });

  it("sees nine tools with strict inputs, loose outputs and honest hints", () => {
    expect([...tools.keys()]).toEqual([
      "search_resources",
      "get_payment_required",
      "search_payables",
      "get_payable",
      "quote_payment",
      "verify_payment",
      "settle_payment",
      "get_payment_status",
      "pay_payable",
    ]);
    for (const tool of tools.values()) {
      expect(tool.description.length, tool.name).toBeLessThan(600);
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(JSON.stringify(tool.outputSchema ?? {})).not.toContain('"additionalProperties":false');
      const pays = ["settle_payment", "pay_payable"].includes(tool.name);
      expect(tool.annotations).toEqual({
        title: expect.any(String),
        openWorldHint: true,
        ...(pays
          ? { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
          : { readOnlyHint: true }),
      });
    }
    expect(tools.get("pay_payable")?.outputSchema).toBeUndefined();
  });

  it("finds a resource, prices it, checks a payment, settles it and asks how it stands", async () => {
    const found = await use("search_resources", { query: "weather tomorrow" });
    expect(found).toMatchObject({ total: 1, items: [{ id: resource.id, url: resource.url }] });
    expect((await use("search_resources", { detail: "full" })).items[0].accepts[0]).toMatchObject({
      amount: "10000",
    });
    const { paymentRequired } = await use("get_payment_required", { id: resource.id });
    const paymentPayload = await signRequired(payer, paymentRequired);
    const verified = await use("verify_payment", { resourceId: resource.id, paymentPayload });
    expect(verified).toMatchObject({ isValid: true, next: { action: "send-to-resource" } });
    const settled = await use("settle_payment", { resourceId: resource.id, paymentPayload });
    expect(settled).toMatchObject({ success: true, status: "settled", next: { action: "done" } });
    const { network, asset } = paymentPayload.accepted;
    const { from, nonce } = paymentPayload.payload.authorization;
    const facts = { status: "settled", transaction: settled.transaction, amount: { decimal: "0.01" } };
    expect(await use("get_payment_status", { paymentId: settled.paymentId })).toMatchObject(facts);
    expect(await use("get_payment_status", { network, asset, payer: from, nonce })).toMatchObject(facts);
    const { transaction } = settled;
    expect(await use("get_payment_status", { network, transaction, payer: from })).toMatchObject(facts);
    const again = await use("settle_payment", { resourceId: resource.id, paymentPayload });
    expect(again).toMatchObject({
      success: false,
      status: "duplicate",
      errorReason: "duplicate_settlement",
      transaction,
      next: { action: "do-not-retry" },
    });
  });

  it("finds a payable, prices it and pays it", async () => {
    const { id, url } = await link();
    const found = await use("search_payables", { kind: "payment-link", currency: "USD", limit: 20 });
    expect(found.items.map((item: { id: string }) => item.id)).toContain(id);
    expect(await use("get_payable", { url })).toMatchObject({ id, resource: url });
    const { paymentRequired, state, next } = await use("get_payable", { id });
    expect({ state, tool: next.tool }).toEqual({ state: "open", tool: "pay_payable" });
    const unpaid = await agent.call("pay_payable", { payableId: id });
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: paymentRequired.accepts } });
    const payment = await signRequired(payer, unpaid.structuredContent);
    const paid = await agent.call("pay_payable", { payableId: id }, { "x402/payment": payment });
    expect(paid.isError).not.toBe(true);
    expect(paid.structuredContent).toMatchObject({
      success: true,
      payable: { id },
      amount: { symbol: "USDC" },
    });
    expect(paid._meta?.["x402/payment-response"]).toMatchObject({ success: true, payer: expect.any(String) });
  });

  it("asks for a quote that keeps the lines nobody can price", async () => {
    const quoted = await use("quote_payment", {
      amount: "12.5",
      asset: "USD",
      assets: ["USDC", "EURC", "DOGE"],
    });
    expect(quoted).toMatchObject({
      indicative: true,
      quotes: [
        { asset: "USDC", available: true, amount: { atomic: "12500000", decimal: "12.50" } },
        { asset: "EURC", available: true, amount: { symbol: "EURC" } },
        { asset: "DOGE", available: false },
      ],
    });
  });

  it("is told which key it misspelt, and what to do", async () => {
    const result = await agent.call("search_resources", { querry: "weather" });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^invalid_arguments: Unrecognized key: querry\. Correct it/);
    expect(result.structuredContent).toBeUndefined();
  });

  it("lists templates and the prompt, and reads an item", async () => {
    const { client } = agent;
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "x402://resources/{id}",
      "x402://payables/{id}",
    ]);
    expect((await client.listResources()).resources).toEqual([]);
    const read = await client.readResource({ uri: `x402://resources/${resource.id}` });
    expect(JSON.parse((read.contents[0] as { text: string }).text)).toMatchObject({ id: resource.id });
    const missing = client.readResource({ uri: "x402://resources/x402r_0" });
    // The newer library has one class for it in both eras, which says -32602 whatever came.
    await expect(missing).rejects.toMatchObject({ code: agent.kind === "v1" ? -32002 : -32602 });
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "pay_resource" }]);
    const prompt = await client.getPrompt({ name: "pay_resource", arguments: { url: resource.url } });
    expect(JSON.stringify(prompt.messages)).toContain(resource.url);
  });
});

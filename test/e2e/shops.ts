/** Two merchants on a whole service, who register resources over HTTP. */
import { expect } from "vitest";
import { freshDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { type Answer, get, type Merchant, newMerchant, startHouse, until } from "../support/house.ts";

export const path = "/v1/x402/resources";

/** A chain on which one token is not what the configuration takes it for: the contract of USDG, named EURC. */
async function startWorld() {
  const dev = await startDevChain();
  const { assets } = dev.contracts;
  const tokens = [
    { symbol: "USDC", contract: assets.USDC },
    { symbol: "EURC", contract: assets.USDG },
  ];
  const misconfigured: DevChain = { ...dev, config: { ...dev.config, assets: tokens } };
  const database = await freshDatabase();
  const running = await startHouse(misconfigured, database);
  return {
    dev,
    database,
    ...running,
    async stop() {
      await running.stop();
      await database.drop();
      await dev.stop();
    },
  };
}

let count = 0;
export const freshUrl = () => `https://shop.example/thing-${++count}`;
export const terms = (changes: object = {}) => ({
  url: freshUrl(),
  price: { amount: "0.01", asset: "USD" },
  ...changes,
});

export type Shops = Awaited<ReturnType<typeof startShops>>;

export async function startShops() {
  const world = await startWorld();
  const [shop, rival] = [await newMerchant(world), await newMerchant(world)];
  const kinds = async () => (await get(world.baseUrl, "/x402/supported")).body.kinds as readonly unknown[];
  await until(async () => (await kinds()).length > 0, "the chain is supported");

  async function ask(
    method: string,
    at: string,
    { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(`${world.baseUrl}${at}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  }
  const register = (who: Merchant, body: unknown, headers?: Record<string, string>) =>
    ask("POST", path, { key: who.secretKey, body, ...(headers ? { headers } : {}) });

  /** Problem details as every refusal has them; what they point to explains the code. */
  async function expectProblem(answer: Answer, status: number, code: string, instance = path): Promise<void> {
    expect(answer.body).toMatchObject({
      type: `${world.baseUrl}/errors/${code}`,
      title: expect.any(String),
      status,
      detail: expect.stringMatching(/\w/),
      instance,
      code,
      requestId: answer.headers.get("request-id"),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body.requestId).toMatch(/^req_/);
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts\b|insert into|drizzle/i);
    const page = await get(world.baseUrl, `/errors/${code}`);
    expect(page).toMatchObject({ status: 200, body: { code, status, title: answer.body.title } });
  }

  return { world, shop, rival, ask, register, expectProblem };
}

import { beforeAll, describe, expect, it } from "vitest";
import { createKey, createMerchant, type Rates } from "#api";
import type { RailFacts } from "#facilitator";
import { systemRandom } from "#kernel/system";
import { currencies } from "../../../api/http/currency.ts";
import { sharedDatabase } from "../../support/db.ts";
import { clock, fakeFacilitator, newId, post, rail, world } from "../world.ts";

const eurc: RailFacts = { ...rail, asset: "EURC", contract: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42" };
const local: RailFacts = {
  ...rail,
  chain: "local",
  network: "eip155:31337",
  minimum: 50n,
  depth: { x402: 1, standard: 1, high: 1 },
  blockTimeSeconds: 1,
};
const facilitator = fakeFacilitator({ rails: () => [rail, eurc, local] });
const masterSecret = "a master secret for tests";

const database = sharedDatabase();
let app: ReturnType<typeof world>["app"];
let secret: string;
let publishable: string;
beforeAll(async () => {
  const { db } = database;
  ({ app } = world({ db, facilitator }));
  const operator = { db, clock, newId, random: systemRandom, masterSecret };
  const { id: merchantId } = await createMerchant(operator, {
    name: "Shop",
    city: "Oslo",
    countryCode: "NO",
  });
  const key = async (kind: "sk" | "pk") =>
    (await createKey(operator, { merchantId, kind, name: kind, permissions: [] })).plaintext;
  [secret, publishable] = [await key("sk"), await key("pk")];
});

interface Line {
  readonly asset: string;
  readonly available: boolean;
  readonly rate: { readonly source: string };
}
interface Body extends Record<string, unknown> {
  readonly quotes: readonly Line[];
  readonly errors: readonly { readonly pointer: string }[];
}
interface Asked {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly app?: typeof app;
}

async function ask(body: unknown, { key = publishable, headers = {}, app: other = app }: Asked = {}) {
  const sent = { authorization: `Bearer ${key}`, "idempotency-key": "quote-1", ...headers };
  const response = await other.request("/v1/quotes", post(body, sent));
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}
const usd = (amount: string, ...assets: string[]) => ({ amount: { amount, asset: "USD" }, assets });
const one = "1000000000000000000";
const unavailable = (asset: string) => ({
  asset,
  amount: { amount: "0", asset, formatted: `0 ${asset}`, display: `0 ${asset}` },
  rate: { scaledRate: "0", source: "none" },
  available: false,
});

describe("POST /v1/quotes", () => {
  it("200: a line for each asset, in the order asked for", async () => {
    const { status, body } = await ask(usd("1234.50", "EURC", "USDC"));
    expect([status, body]).toEqual([
      200,
      {
        source: { amount: "1234.50", asset: "USD", formatted: "1,234.50 USD", display: "$1,234.50" },
        quotes: [
          {
            asset: "EURC",
            amount: {
              amount: "1122.272728",
              asset: "EURC",
              formatted: "1,122.272728 EURC",
              display: "1,122.272728 EURC",
            },
            rate: { scaledRate: "909090909090909091", source: "fixed" },
            available: true,
          },
          {
            asset: "USDC",
            amount: {
              amount: "1234.500000",
              asset: "USDC",
              formatted: "1,234.50 USDC",
              display: "1,234.50 USDC",
            },
            rate: { scaledRate: one, source: "parity" },
            available: true,
          },
        ],
      },
    ]);
  });

  it.each([
    ["JPY", "1000", "6.500000", "6500000000000000", "fixed"],
    ["AED", "3.67", "0.999320", "272294077603812118", "peg"],
    ["USDC", "0.000001", "0.000001", one, "identity"],
    ["USDG", "5", "5.000000", one, "parity"],
  ])("200: an amount in %s", async (asset, amount, expected, scaledRate, source) => {
    const { body } = await ask({ amount: { amount, asset }, assets: ["USDC"] });
    expect(body.quotes).toMatchObject([
      { amount: { amount: expected, asset: "USDC" }, rate: { scaledRate, source }, available: true },
    ]);
  });

  it("200: an asset on a chain is named as it was asked for", async () => {
    const { body } = await ask(usd("1", "USDC@base", "USDC@eip155:31337"));
    const amount = { amount: "1.000000", formatted: "1.00 USDC", display: "1.00 USDC" };
    const rate = { scaledRate: one, source: "parity" };
    expect(body.quotes).toEqual([
      { asset: "USDC@base", amount: { ...amount, asset: "USDC@base" }, rate, available: true },
      {
        asset: "USDC@eip155:31337",
        amount: { ...amount, asset: "USDC@eip155:31337" },
        rate,
        available: true,
      },
    ]);
  });

  it.each([
    ["unknown", "DOGE"],
    ["in other letters", "usdc"],
    ["a currency", "EUR"],
    ["a coin that no chain here has", "USDG"],
    ["on a chain that is not here", "USDC@solana"],
    ["on a chain that has another coin only", "EURC@local"],
    ["without its name", "@base"],
    ["without its chain", "USDC@"],
    ["a trap", "__proto__"],
  ])("200: an asset that is %s keeps its shape, and the others their price", async (_what, asset) => {
    const { status, body } = await ask(usd("1", asset, "USDC"));
    expect(status).toBe(200);
    expect(body.quotes).toMatchObject([unavailable(asset), { asset: "USDC", available: true }]);
    expect(body.quotes[0]).toEqual(unavailable(asset));
  });

  it("200: an asset that nobody prices is a line that is not available", async () => {
    const rates: Rates = { rate: async () => ({ ok: false, reason: "depegged" }) };
    const { app: dark } = world({ db: database.db, facilitator, rates });
    const { status, body } = await ask(usd("1", "USDC", "EURC@base"), { app: dark });
    expect(status).toBe(200);
    expect(body.quotes).toEqual([unavailable("USDC"), unavailable("EURC@base")]);
  });

  it("200: the same asset twice is two lines", async () => {
    const { body } = await ask(usd("1", "USDC", "USDC"));
    expect(body.quotes.map(({ asset }) => asset)).toEqual(["USDC", "USDC"]);
  });

  it("200: a secret key without any permission may ask as well", async () => {
    expect((await ask(usd("1", "USDC"), { key: secret })).status).toBe(200);
  });

  it("nothing is kept: the same key may ask for something else, and is answered anew", async () => {
    const first = await ask(usd("1", "USDC"));
    const second = await ask(usd("2", "USDC"));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
    expect(await database.query("SELECT * FROM idempotency_key")).toEqual([]);
    expect(await database.query("SELECT * FROM rate_snapshot")).toEqual([]);
  });

  it("400 idempotency_key_required", async () => {
    const headers = { authorization: `Bearer ${publishable}` };
    const response = await app.request("/v1/quotes", post(usd("1", "USDC"), headers));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "idempotency_key_required" });
  });

  it("an idempotency key has 1 to 255 printable characters", async () => {
    const status = async (key: string) => {
      const { status, body } = await ask(usd("1", "USDC"), { headers: { "idempotency-key": key } });
      return status === 200 ? 200 : body.code;
    };
    expect(await status("k")).toBe(200);
    expect(await status("k".repeat(255))).toBe(200);
    expect(await status("k".repeat(256))).toBe("idempotency_key_invalid");
    expect(await status("")).toBe("idempotency_key_invalid");
    expect(await status("clé")).toBe("idempotency_key_invalid");
  });

  it.each<[string, unknown, string]>([
    ["no amount", { assets: ["USDC"] }, "/amount"],
    ["a number", { amount: { amount: 1, asset: "USD" }, assets: ["USDC"] }, "/amount/amount"],
    ["a sign", { amount: { amount: "-1", asset: "USD" }, assets: ["USDC"] }, "/amount/amount"],
    ["an exponent", { amount: { amount: "1e3", asset: "USD" }, assets: ["USDC"] }, "/amount/amount"],
    ["no assets", { ...usd("1"), assets: undefined }, "/assets"],
    ["an empty list", usd("1"), "/assets"],
    ["21 assets", usd("1", ...Array<string>(21).fill("USDC")), "/assets"],
    ["an empty code", usd("1", ""), "/assets/0"],
    ["a code with a control character", usd("1", "USDC", "US\u0007DC"), "/assets/1"],
    ["a code beyond 64 characters", usd("1", "U".repeat(65)), "/assets/0"],
    ["a key that is not known", { ...usd("1", "USDC"), currency: "USD" }, "/currency"],
  ])("400 validation_failed: %s", async (_what, body, pointer) => {
    const answer = await ask(body);
    expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
    expect(answer.body.errors.map((error) => error.pointer)).toContain(pointer);
  });

  it.each([
    ["USD", "1.001"],
    ["JPY", "1.5"],
    ["USDC", "0.0000001"],
  ])("400 too_many_decimals: %s %s", async (asset, amount) => {
    const { status, body } = await ask({ amount: { amount, asset }, assets: ["USDC"] });
    expect([status, body.code, body.errors[0]?.pointer]).toEqual([
      400,
      "too_many_decimals",
      "/amount/amount",
    ]);
  });

  it("422 currency_unsupported", async () => {
    const { status, body } = await ask({ amount: { amount: "1", asset: "XAU" }, assets: ["USDC"] });
    expect([status, body.code]).toEqual([422, "currency_unsupported"]);
  });

  it("422 amount_too_small: nothing costs nothing", async () => {
    const { status, body } = await ask(usd("0.00", "USDC"));
    expect([status, body.code, body.errors[0]?.pointer]).toEqual([422, "amount_too_small", "/amount/amount"]);
  });

  it("20 assets are one answer", async () => {
    const { body } = await ask(usd("1", ...Array<string>(20).fill("USDC")));
    expect(body.quotes).toHaveLength(20);
  });
});

describe("without a good key", () => {
  it.each(["GET /v1/rails", "GET /v1/currencies", "POST /v1/quotes"])(
    "401 unauthenticated: %s",
    async (route) => {
      const [method = "", path = ""] = route.split(" ");
      const response = await app.request(path, { method });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: "unauthenticated" });
    },
  );
});

describe("GET /v1/rails", () => {
  it.each(["pk", "sk"])("200: every token that can be paid with here, to a %s key", async (kind) => {
    const key = kind === "pk" ? publishable : secret;
    const response = await app.request("/v1/rails", { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    const usdcOnBase = {
      chain: "base",
      network: "eip155:8453",
      asset: "USDC",
      contract: rail.contract,
      decimals: 6,
      settlementAsset: "USDC",
      executionPaths: ["deposit-match", "x402"],
      transferMethod: "eip3009",
      minimum: { amount: "0.000001", asset: "USDC", formatted: "0.000001 USDC", display: "0.000001 USDC" },
      confirmationsRequired: 12,
      estimatedSeconds: 24,
    };
    const eurcOnBase = {
      ...usdcOnBase,
      asset: "EURC",
      contract: eurc.contract,
      settlementAsset: "EURC",
      minimum: { amount: "0.000001", asset: "EURC", formatted: "0.000001 EURC", display: "0.000001 EURC" },
    };
    const usdcOnLocal = {
      ...usdcOnBase,
      chain: "local",
      network: "eip155:31337",
      minimum: { amount: "0.000050", asset: "USDC", formatted: "0.00005 USDC", display: "0.00005 USDC" },
      confirmationsRequired: 1,
      estimatedSeconds: 1,
    };
    expect(await response.json()).toEqual([usdcOnBase, eurcOnBase, usdcOnLocal]);
  });
});

describe("GET /v1/currencies", () => {
  it("200: every unit, with its decimals and what a coin is worth one of", async () => {
    const response = await app.request("/v1/currencies", {
      headers: { authorization: `Bearer ${publishable}` },
    });
    expect(response.status).toBe(200);
    const list = (await response.json()) as readonly { readonly code: string }[];
    expect(list.map(({ code }) => code)).toEqual(currencies.map(({ code }) => code));
    const found = (code: string) => list.find((each) => each.code === code);
    expect(found("USD")).toEqual({
      code: "USD",
      kind: "fiat",
      name: "US dollar",
      decimals: 2,
      sign: "$",
      peg: null,
    });
    expect(found("JPY")).toMatchObject({ decimals: 0, sign: "¥" });
    expect(found("EURC")).toEqual({
      code: "EURC",
      kind: "stablecoin",
      name: "Euro Coin",
      decimals: 6,
      sign: null,
      peg: "EUR",
    });
  });
});

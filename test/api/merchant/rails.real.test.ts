/** The rails that a merchant takes: it is paid there and nowhere else. */
import { and, desc, eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeFee, fixedRates, type Rates } from "#api";
import type { RailFacts, RefusedRail } from "#facilitator";
import { merchant } from "../../../api/merchant/tables.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { payable } from "../../../facilitator/payable/tables.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, newCaller, operatorOf, type Writer, writer } from "../caller.ts";
import { clock, fakeFacilitator, rail, recordingLog, world } from "../world.ts";

const eurc: RailFacts = { ...rail, asset: "EURC", contract: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42" };
const ink: RailFacts = { ...rail, chain: "ink", network: "eip155:57073" };
const every = [rail, eurc, ink];
const unread: RefusedRail = { chain: "moon", network: "eip155:1738", asset: "USDC", problem: "no domain" };
const onBase = { chain: "base", asset: "USDC" };
const onInk = { chain: "ink", asset: "USDC" };

let rails: readonly RailFacts[];
let refused: readonly RefusedRail[];
/** What happens while rates are asked for. */
let meanwhile: () => Promise<unknown>;
let house: ReturnType<typeof world>;
let shop: Caller;
let count = 0;
const database = sharedDatabase();
beforeAll(async () => {
  const facilitator = fakeFacilitator({
    ...{ project: projectPayable, rails: () => rails, refusedRails: () => refused },
    offer: async () => null,
  });
  const fixed = fixedRates({ clock, log: recordingLog() });
  const rates: Rates = {
    ...fixed,
    async rate(pair) {
      await meanwhile();
      return fixed.rate(pair);
    },
  };
  house = world({ db: database.db, facilitator, rates });
});
beforeEach(async () => {
  rails = every;
  refused = [unread];
  meanwhile = async () => {};
  shop = await newCaller(database.db);
});

const call: Writer["call"] = (...asked) => writer(house.app, shop).call(...asked);
const must: Writer["must"] = (...asked) => writer(house.app, shop).must(...asked);
const codeOf = ({ status, body }: Answer) => [status, body.code, body.errors?.[0]?.pointer];

const latestFact = async () => {
  const about = and(eq(outbox.merchantId, shop.merchantId), eq(outbox.type, "merchant.updated"));
  const [fact] = await database.db.pool.select().from(outbox).where(about).orderBy(desc(outbox.sequence));
  return fact;
};
/** Changes the setting, and has done what hears of it. */
async function take(chosen: readonly object[]) {
  const changed = await must("PATCH", "/v1/merchant", { rails: chosen });
  await hear();
  return changed.rails;
}
async function hear() {
  const fact = await latestFact();
  for (const job of house.jobs.filter(({ hears }) => hears?.includes("merchant.updated")))
    await job.run({ fact: fact as never, stopping: new AbortController().signal });
}
/** What agents are offered something on; an empty list is every rail at parity. */
async function offered(id: string) {
  const [row] = await database.db.pool
    .select({ rails: payable.rails })
    .from(payable)
    .where(eq(payable.id, id));
  return row?.rails;
}

/** Its contract is not what it was, for as long as nobody looked at it. */
function pause({ chain, network, asset }: RailFacts) {
  rails = rails.filter((each) => each.chain !== chain || each.asset !== asset);
  refused = [...refused, { chain, network, asset, problem: "its code has changed" }];
}
function resume() {
  rails = every;
  refused = [unread];
}

const ten = { amount: "10", asset: "USD" };
const intent = (body: object = {}) => call("POST", "/v1/payment-intents", { amount: ten, ...body });
const link = (body: object = {}) =>
  must("POST", "/v1/payment-links", { kind: "fixed", amount: ten, ...body });
const invoice = (body: object = {}) =>
  must("POST", "/v1/invoices", {
    buyer: { name: "Ada" },
    currency: "USD",
    lines: [{ name: "Tea", unitPrice: ten }],
    ...body,
  });
const resource = (body: object = {}) =>
  call("POST", "/v1/x402/resources", { url: `https://shop.example/${++count}`, price: ten, ...body });
const chainsOf = (accepts: readonly { chain: string; asset: string }[]) =>
  accepts.map(({ chain, asset }) => `${chain} ${asset}`);

describe("PATCH /v1/merchant with rails", () => {
  it("keeps them by slug, each once; what is already so is no change", async () => {
    expect(await must("GET", "/v1/merchant")).toMatchObject({ rails: [] });
    const asked = [{ chain: "eip155:8453", asset: "USDC" }, onBase, onInk];
    expect(await must("PATCH", "/v1/merchant", { rails: asked })).toMatchObject({ rails: [onBase, onInk] });
    expect(await must("GET", "/v1/merchant")).toMatchObject({ rails: [onBase, onInk] });
    const told = await latestFact();
    expect(told?.payload).toEqual({ changed: ["rails"] });
    await must("PATCH", "/v1/merchant", { rails: asked });
    expect(await latestFact()).toEqual(told);
    expect(await must("PATCH", "/v1/merchant", { rails: [] })).toMatchObject({ rails: [] });
  });

  it.each([
    ["a chain that is not there", { chain: "mars", asset: "USDC" }, "rail_unsupported"],
    ["a token that is not there", { chain: "ink", asset: "EURC" }, "rail_unsupported"],
    ["a contract that did not pass", { chain: "moon", asset: "USDC" }, "token_domain_unreadable"],
  ])("422 for %s, pointing to it; nothing changes", async (_name, unknown, code) => {
    expect(codeOf(await call("PATCH", "/v1/merchant", { name: "New", rails: [onBase, unknown] }))).toEqual([
      422,
      code,
      "/rails/1",
    ]);
    expect(await must("GET", "/v1/merchant")).toMatchObject({ name: "Shop", rails: [] });
  });

  it("leaves a rail that does not work now among those that are taken, and takes no other for it", async () => {
    await take([onInk]);
    const { id } = await link();
    rails = [rail, eurc];
    expect(await must("GET", `/v1/payment-links/${id}`)).toMatchObject({ payable: false });
    expect(await must("PATCH", "/v1/merchant", { rails: [onInk], city: "Bergen" })).toMatchObject({
      city: "Bergen",
      rails: [onInk],
    });
    expect(codeOf(await intent())).toEqual([422, "rail_unsupported", undefined]);
    expect(await offered((await resource({ rails: [onBase] })).body.id)).toBeUndefined();
  });
});

describe("an intent", () => {
  it("is asked for, confirmed and offered on rails that are taken only", async () => {
    await take([onBase, { chain: "base", asset: "EURC" }]);
    expect(codeOf(await intent({ payment: { chain: "ink" } }))).toEqual([
      422,
      "rail_unsupported",
      "/payment/chain",
    ]);
    const { id } = (await intent()).body;
    // A choice names its rails: another that comes later is not in it.
    expect(await offered(id)).toEqual([onBase]);
    await take([{ chain: "base", asset: "EURC" }]);
    expect(
      codeOf(await call("POST", `/v1/payment-intents/${id}/confirm`, { payment: { asset: "USDC" } })),
    ).toEqual([422, "rail_unsupported", "/payment/asset"]);
  });

  it("of a cart or a link is none on a rail that is not taken", async () => {
    await take([onBase]);
    const payment = { chain: "ink" };
    const prices = [{ amount: "2", asset: "USD" }];
    const tea = await must("POST", "/v1/catalog/products", { sku: `tea-${++count}`, name: "Tea", prices });
    const lines = [{ productId: tea.id, quantity: 1 }];
    const refused = [422, "rail_unsupported", "/payment/chain"];
    const page = await newCaller(database.db, {
      ...shop,
      kind: "pk",
      allowedOrigins: ["https://shop.example"],
    });
    const atCart = await caller(house.app, page)("POST", "/v1/carts/checkout", {
      body: { currency: "USD", lines, payment },
      headers: { "idempotency-key": `k-${++count}`, origin: "https://shop.example" },
    });
    expect(codeOf(atCart)).toEqual(refused);
    const atLink = await call("POST", `/v1/payment-links/${(await link()).id}/checkout`, { payment });
    expect(codeOf(atLink)).toEqual(refused);
  });

  it("that nobody pays yet is offered anew when the setting changes, within what it asks for", async () => {
    const [any, inkOnly] = [(await intent()).body, (await intent({ payment: { chain: "ink" } })).body];
    expect([await offered(any.id), await offered(inkOnly.id)]).toEqual([[], [onInk]]);
    await take([onBase]);
    expect(await offered(any.id)).toEqual([onBase]);
    // An empty list would be every rail.
    expect(await offered(inkOnly.id)).toEqual([{ chain: "-", asset: "-" }]);
    await take([]);
    expect([await offered(any.id), await offered(inkOnly.id)]).toEqual([[], [onInk]]);
  });

  it("at a locked rate keeps its token", async () => {
    rails = [eurc, { ...ink, asset: "EURC" }];
    const { id } = (await intent({ amount: { amount: "10", asset: "GBP" } })).body;
    const both = [
      { chain: "base", asset: "EURC" },
      { chain: "ink", asset: "EURC" },
    ];
    expect(await offered(id)).toEqual(both);
    await take(both.slice(1));
    expect(await offered(id)).toEqual(both.slice(1));
    rails = every;
    await take([onBase]);
    expect(await offered(id)).toEqual([{ chain: "-", asset: "-" }]);
  });

  it("at a locked rate is offered nowhere, where its token is taken no more by the time it is made", async () => {
    rails = [eurc, { ...ink, asset: "USDG" }];
    const amount = { amount: "10", asset: "GBP" };
    meanwhile = () =>
      database.db.pool
        .update(merchant)
        .set({ rails: [{ chain: "ink", asset: "USDG" }] })
        .where(eq(merchant.id, shop.merchantId));
    const made = await intent({ amount, payment: { asset: "EURC" } });
    expect(made.status).toBe(201);
    // An empty list would be every rail.
    expect(await offered(made.body.id)).toBeUndefined();
  });

  it("made while a rail that is taken is paused names it all the same", async () => {
    await take([onBase, onInk]);
    pause(ink);
    const { id } = (await intent()).body;
    expect(await offered(id)).toEqual([onBase, onInk]);
    expect(codeOf(await intent({ payment: { chain: "ink" } }))).toEqual([
      422,
      "rail_unsupported",
      "/payment/chain",
    ]);
  });

  it("keeps a rail that is paused while the setting changes, and loses it once it is taken no more", async () => {
    const [any, inkOnly] = [(await intent()).body, (await intent({ payment: { chain: "ink" } })).body];
    pause(ink);
    await take([onBase]);
    expect([await offered(any.id), await offered(inkOnly.id)]).toEqual([
      [onBase],
      [{ chain: "-", asset: "-" }],
    ]);
    await take([]);
    expect([await offered(any.id), await offered(inkOnly.id)]).toEqual([[], [onInk]]);
    resume();
    await take([onBase, onInk]);
    pause(ink);
    await take([onInk]);
    expect([await offered(any.id), await offered(inkOnly.id)]).toEqual([[onInk], [onInk]]);
  });
});

describe("our fee, when the operator changes it", () => {
  it("is that of links, resources and new payments from then on; what was asked for keeps its own", async () => {
    const feeOf = async (id: string) =>
      (await database.query<{ fee: number }>("SELECT fee_bps AS fee FROM payable WHERE id = $1", [id]))[0]
        ?.fee;
    const asked = async () => {
      const { body } = await intent();
      const { id } = await invoice({ issue: true });
      return [body.id, id] as const;
    };
    const agreed = (ids: readonly string[]) =>
      database.query(
        `SELECT fee_bps AS fee FROM payment_intent WHERE id = ANY($1)
         UNION ALL SELECT fee_bps FROM invoice WHERE id = ANY($1)`,
        [ids],
      );
    const offers = [(await link()).id, (await resource()).body.id];
    const before = await asked();
    const { merchantId } = shop;
    expect(await changeFee(operatorOf(database.db), { merchantId, feeBps: 75 })).toBe(0);
    await hear();
    expect(await Promise.all(offers.map(feeOf))).toEqual([75, 75]);
    expect(await agreed(before)).toEqual([{ fee: 0 }, { fee: 0 }]);
    expect(await agreed(await asked())).toEqual([{ fee: 75 }, { fee: 75 }]);
    expect(await must("GET", "/v1/merchant")).toMatchObject({ feeBps: 75 });
  });
});

describe("links and invoices", () => {
  it("are offered on the rails that are taken, and anew when these change", async () => {
    await take([onBase]);
    const things = [await link(), await invoice({ issue: true })].map(({ id }) => id);
    for (const id of things) expect(await offered(id)).toEqual([onBase]);
    await take([onInk]);
    for (const id of things) expect(await offered(id)).toEqual([onInk]);
    await take([]);
    for (const id of things) expect(await offered(id)).toEqual([]);
  });

  it("that cannot be paid now follow once they can", async () => {
    const [{ id }, draft] = [await link(), await invoice()];
    await must("POST", `/v1/payment-links/${id}/disable`);
    await take([onInk]);
    await must("POST", `/v1/payment-links/${id}/enable`);
    await must("POST", `/v1/invoices/${draft.id}/issue`);
    expect([await offered(id), await offered(draft.id)]).toEqual([[onInk], [onInk]]);
  });

  it("stay as they are told when something else changes", async () => {
    const { id } = await link();
    await database.db.pool
      .update(merchant)
      .set({ rails: [onInk] })
      .where(eq(merchant.id, shop.merchantId));
    await must("PATCH", "/v1/merchant", { name: "Other" });
    for (const job of house.jobs.filter(({ hears }) => hears?.includes("merchant.updated")))
      await job.run({ fact: (await latestFact()) as never, stopping: new AbortController().signal });
    expect(await offered(id)).toEqual([]);
  });

  it("lists the rails of a link that are taken", async () => {
    const { id } = await link();
    const listed = async () => chainsOf(await must("GET", `/v1/payment-links/${id}/rails`));
    expect(await listed()).toEqual(["base USDC", "base EURC", "ink USDC"]);
    await take([onInk, { chain: "base", asset: "EURC" }]);
    expect(await listed()).toEqual(["base EURC", "ink USDC"]);
  });
});

describe("a resource", () => {
  const accepts = async (id: string) => chainsOf((await must("GET", `/v1/x402/resources/${id}`)).accepts);

  it("without rails of its own is on those of the merchant", async () => {
    await take([onInk]);
    const made = (await resource()).body;
    expect(chainsOf(made.accepts)).toEqual(["ink USDC"]);
    expect(await offered(made.id)).toEqual([onInk]);
    await take([]);
    expect([await accepts(made.id), await offered(made.id)]).toEqual([["base USDC", "ink USDC"], []]);
  });

  it("with rails of its own is on those of them that are taken, and never on more", async () => {
    const { id } = (await resource({ rails: [onBase, onInk] })).body;
    await take([onInk, { chain: "base", asset: "EURC" }]);
    expect([await accepts(id), await offered(id)]).toEqual([["ink USDC"], [onInk]]);
    await take([{ chain: "base", asset: "EURC" }]);
    expect([await accepts(id), await offered(id)]).toEqual([[], [{ chain: "-", asset: "-" }]]);
    const { resources } = await must("GET", "/v1/x402/resources");
    expect(resources).toMatchObject([{ id, accepts: [] }]);
    await take([]);
    expect([await accepts(id), await offered(id)]).toEqual([
      ["base USDC", "ink USDC"],
      [onBase, onInk],
    ]);
  });

  it.each([
    ["for one that names a rail that is not taken", { rails: [onBase, onInk] }, "/rails/1"],
    ["where none that is taken is at parity", { price: { amount: "1", asset: "EUR" } }, "/price/asset"],
  ])("422 rail_unsupported %s", async (_name, body, pointer) => {
    await take([onBase]);
    expect(codeOf(await resource(body))).toEqual([422, "rail_unsupported", pointer]);
  });
});

import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hash, hash } from "#kernel/bytes";
import type { Database } from "#store";
import { type DiscoverFilter, discoverPayables } from "../../../facilitator/payable/discover.ts";
import { findPayables } from "../../../facilitator/payable/find.ts";
import type { Payable } from "../../../facilitator/payable/payable.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import type { OfferedRail } from "../../../facilitator/payable/requirements.ts";
import { sharedDatabase } from "../../support/db.ts";
import { chainOf, offered, payableOf } from "./shapes.ts";

const database = sharedDatabase();
let db: Database;
beforeAll(async () => {
  db = database.db;
});

const put = (...items: Payable[]) =>
  db.tx(async (tx) => {
    for (const item of items) await projectPayable(tx, item);
  });

describe("projecting", () => {
  it("creates, then replaces, and leaves who holds it alone", async () => {
    const item = payableOf({
      id: "inv_1",
      kind: "invoice",
      url: "https://pay.example/x402/payables/inv_1",
      once: true,
    });
    await put(item);
    const holder = hash(`0x${"77".repeat(32)}`);
    await db.pool.execute(
      sql`UPDATE payable SET held_by = decode(${holder.slice(2)}, 'hex') WHERE id = 'inv_1'`,
    );
    const changed = { ...item, description: "changed", price: { amount: 5n, asset: "EUR" }, listed: true };
    await put(changed);
    const [found] = await findPayables(db.pool, [{ by: "id", id: "inv_1" }]);
    expect(found).toMatchObject({ ...changed, heldBy: holder satisfies Hash });
  });

  it("leaves money alone that came another way: it stays closed by that, unless it is closed for good", async () => {
    const url = "https://pay.example/x402/payables/inv_2";
    const item = payableOf({ id: "inv_2", kind: "invoice", url, once: true });
    await put(item);
    await db.pool.execute(sql`UPDATE payable SET held_for = 'pi_1' WHERE id = 'inv_2'`);
    const find = async () => (await findPayables(db.pool, [{ by: "id", id: "inv_2" }]))[0];
    await put({ ...item, description: "changed" });
    expect(await find()).toMatchObject({ closedAt: item.updatedAt, closedAs: "pending" });
    const closed = { closedAt: new Date(), closedAs: "paid" };
    await put({ ...item, ...closed });
    expect(await find()).toMatchObject(closed);
  });

  it("refuses a URL that another open payable has, whoever was first among many at once", async () => {
    const url = "https://race.example/one";
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        put(payableOf({ id: `x402r_race${i}`, merchantId: `mer_${i}`, url })),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ code: "url_registered_elsewhere" });
  });

  it("gives the URL of a closed one away", async () => {
    const url = "https://reused.example/a";
    await put(payableOf({ id: "x402r_old", url, closedAt: new Date() }), payableOf({ id: "x402r_new", url }));
    const found = await findPayables(db.pool, [
      { by: "url", url },
      { by: "id", id: "x402r_old" },
    ]);
    expect(found.map((item) => item?.id)).toEqual(["x402r_new", "x402r_old"]);
  });
});

describe("finding many", () => {
  it("answers in the order of what was asked, null for what is not there", async () => {
    const url = "https://find.example/weather";
    await put(payableOf({ id: "x402r_find", url }));
    const found = await findPayables(db.pool, [
      { by: "id", id: "x402r_nobody" },
      { by: "url", url: `${url}?city=Oslo#top` },
      { by: "id", id: "x402r_find" },
      { by: "url", url: "HTTPS://FIND.example:443/weather" },
      { by: "url", url: "https://find.example/weather/" },
      { by: "url", url: "http://find.example/weather" },
      { by: "url", url: "not a url" },
      { by: "id", id: "x402r_find" },
    ]);
    expect(found.map((item) => item?.id ?? null)).toEqual([
      null,
      "x402r_find",
      "x402r_find",
      "x402r_find",
      null,
      null,
      null,
      "x402r_find",
    ]);
    expect(await findPayables(db.pool, [])).toEqual([]);
    expect(await findPayables(db.pool, [{ by: "url", url: "nonsense" }])).toEqual([null]);
  });
});

describe("finding what is closed, or held", () => {
  it("goes by its own agent URL, and not by that of a resource, which may be another's soon", async () => {
    const closedAt = new Date();
    const [invoice, resource] = [
      "https://pay.example/x402/payables/inv_3",
      "https://left.example/a",
    ] as const;
    await put(
      payableOf({ id: "inv_3", kind: "invoice", url: invoice, closedAt }),
      payableOf({ id: "x402r_left", url: resource, closedAt }),
    );
    const found = await findPayables(
      db.pool,
      [invoice, resource].map((url) => ({ by: "url", url })),
    );
    expect(found.map((item) => item?.id)).toEqual(["inv_3", undefined]);
  });

  it("shows a way to pay something else as held by who holds that", async () => {
    const ways = ["pi_3", "pi_4"].map((id) =>
      payableOf({
        ...{ id, kind: "payment-intent", url: `https://pay.example/x402/payables/${id}`, once: true },
        heldAs: id === "pi_3" ? "inv_4" : null,
      }),
    );
    await put(payableOf({ id: "inv_4", kind: "invoice", url: "https://pay.example/4", once: true }), ...ways);
    const holder = hash(`0x${"78".repeat(32)}`);
    await db.pool.execute(
      sql`UPDATE payable SET held_by = decode(${holder.slice(2)}, 'hex') WHERE id = 'inv_4'`,
    );
    const found = await findPayables(
      db.pool,
      ways.map(({ id }) => ({ by: "id", id })),
    );
    expect(found.map((item) => item?.heldBy)).toEqual([holder, null]);
  });

  it("shows a way to pay something else as closed with that, by money that came another way or for good", async () => {
    const of = (id: string, changes: Partial<Payable>) =>
      payableOf({ id, url: `https://pay.example/x402/payables/${id}`, once: true, ...changes });
    const invoice = of("inv_5", { kind: "invoice" });
    const way = of("pi_5", { kind: "payment-intent", heldAs: "inv_5" });
    await put(invoice, way);
    const find = async () => (await findPayables(db.pool, [{ by: "id", id: "pi_5" }]))[0];
    expect(await find()).toMatchObject({ closedAt: null, closedAs: null, heldBy: null });
    await db.pool.execute(sql`UPDATE payable SET held_for = 'pi_6' WHERE id = 'inv_5'`);
    expect(await find()).toMatchObject({ closedAt: invoice.updatedAt, closedAs: "pending" });
    const closed = { closedAt: new Date(), closedAs: "paid" };
    await put({ ...invoice, ...closed });
    expect(await find()).toMatchObject(closed);
    // what ended by itself says so
    const own = { closedAt: new Date(), closedAs: "cancelled" };
    await put({ ...way, ...own });
    expect(await find()).toMatchObject(own);
  });
});

describe("discovering", () => {
  const base = chainOf({
    slug: "base",
    chainId: 8453,
    treasury: address(`0x${"a1".repeat(20)}`),
    dustFloor: 100n,
  });
  const ink = chainOf({ slug: "ink", chainId: 57073, treasury: address(`0x${"b2".repeat(20)}`) });
  const token = (fill: string): Address => address(`0x${fill.repeat(20)}`);
  const rails: OfferedRail[] = [
    offered(base, { symbol: "USDC", contract: token("c1") }),
    offered(base, { symbol: "EURC", contract: token("c2") }),
    offered(ink, { symbol: "USDG", contract: token("c3") }),
  ];
  const ask = async (filter: Partial<DiscoverFilter> = {}, on = rails) => {
    const { items, total } = await discoverPayables({ db, searchDb: db, now: new Date() }, on, {
      kinds: ["resource"],
      limit: 100,
      offset: 0,
      ...filter,
    });
    return { ids: items.map(({ item }) => item.id), total };
  };
  const at = (minute: number) => new Date(Date.UTC(2026, 7, 11, 9, minute));

  beforeAll(async () => {
    await db.pool.execute(sql`DELETE FROM listing`);
    await db.pool.execute(sql`DELETE FROM payable`);
    const listed = (id: string, minute: number, changes: Partial<Payable>) =>
      payableOf({ id, url: `https://d.example/${id}`, listed: true, createdAt: at(minute), ...changes });
    await put(
      listed("dollar", 1, { price: { amount: 10_000n, asset: "USD" }, description: "weather of today" }),
      listed("euro", 2, { price: { amount: 10_000n, asset: "EUR" }, tags: ["weather"] }),
      listed("only-ink", 3, {
        price: { amount: 50_000n, asset: "USD" },
        rails: [{ chain: "ink", asset: "USDG" }],
      }),
      listed("dust", 4, { price: { amount: 99n, asset: "USDC" } }),
      listed("weather", 5, {
        price: { amount: 2_000_000n, asset: "USDC" },
        extensions: { bazaar: { info: {} } },
      }),
      listed("hidden", 6, { listed: false }),
      listed("closed", 7, { closedAt: at(8) }),
      listed("an-invoice", 8, { kind: "invoice" }),
      listed("100%_real", 9, { price: { amount: 1_000n, asset: "EURC" }, title: "100%_real" }),
    );
  });

  it("shows what is listed, open and payable on a rail, oldest first", async () => {
    expect(await ask()).toEqual({ ids: ["dollar", "euro", "only-ink", "weather", "100%_real"], total: 5 });
    expect((await ask({ kinds: ["invoice"] })).ids).toEqual(["an-invoice"]);
    expect((await ask({ kinds: [] })).total).toBe(0);
  });

  it("pages with a total that stays", async () => {
    expect(await ask({ limit: 2 })).toEqual({ ids: ["dollar", "euro"], total: 5 });
    expect(await ask({ limit: 2, offset: 4 })).toEqual({ ids: ["100%_real"], total: 5 });
    expect(await ask({ limit: 2, offset: 90 })).toEqual({ ids: [], total: 5 });
  });

  it("filters by network, asset, contract and payTo, all on one rail", async () => {
    expect((await ask({ network: "eip155:57073" })).ids).toEqual(["dollar", "only-ink"]);
    expect((await ask({ network: "eip155:8453", asset: "USDC" })).ids).toEqual(["dollar", "weather"]);
    expect((await ask({ asset: "EURC" })).ids).toEqual(["euro", "100%_real"]);
    expect((await ask({ asset: token("c3") })).ids).toEqual(["dollar", "only-ink"]);
    expect((await ask({ payTo: ink.treasury })).ids).toEqual(["dollar", "only-ink"]);
    expect(await ask({ payTo: ink.treasury, asset: "USDC" })).toEqual({ ids: [], total: 0 });
    expect((await ask({ network: "eip155:1" })).total).toBe(0);
    expect((await ask({ scheme: "upto" })).total).toBe(0);
    expect((await ask({}, [])).total).toBe(0);
  });

  it("filters by extension and by price in dollars", async () => {
    expect((await ask({ extension: "bazaar" })).ids).toEqual(["weather"]);
    expect((await ask({ extension: "payment-identifier" })).total).toBe(5);
    expect((await ask({ maxUsdPrice: 10_000n })).ids).toEqual(["dollar"]);
    expect((await ask({ maxUsdPrice: 2_000_000n })).ids).toEqual(["dollar", "only-ink", "weather"]);
    expect((await ask({ currency: "EUR" })).ids).toEqual(["euro"]);
  });

  it("finds words, the address before tags before the description, and takes wildcards for what they are", async () => {
    expect((await ask({ query: "WEATHER" })).ids).toEqual(["weather", "euro", "dollar"]);
    expect((await ask({ query: "weather today" })).ids).toEqual(["dollar"]);
    expect((await ask({ query: "100%_real" })).ids).toEqual(["100%_real"]);
    expect((await ask({ query: "%" })).total).toBe(0);
    expect((await ask({ query: "' OR 1=1 --" })).total).toBe(0);
  });
});

import { beforeAll, describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import type { Database } from "#store";
import { type DiscoverFilter, discoverPayables } from "../../../facilitator/payable/discover.ts";
import type { Payable } from "../../../facilitator/payable/payable.ts";
import {
  type CountedPayment,
  countPayments,
  forgetOldPayers,
} from "../../../facilitator/payable/popularity.ts";
import { type Assessment, assess, readTrust } from "../../../facilitator/payable/trust.ts";
import { chain, listings, rails } from "./listings.ts";
import { offered, payableOf } from "./shapes.ts";

const { database, put, list, find, ids } = listings();
let db: Database;
beforeAll(async () => {
  db = database.db;
});

const judge = (id: string, found: Assessment) => db.tx((tx) => assess(tx, id, found));
const good = { probe: { at: new Date(), status: 402, ok: true } };
const bad = { probe: { at: new Date(), status: 200, ok: false } };

let fact = 0;
const wallet = (n: number) => address(`0x${n.toString(16).padStart(40, "0")}`);
const paid = (payableId: string, payer: number, by: 1 | -1 = 1): CountedPayment => ({
  factId: `evt_${++fact}`,
  payableId,
  payer: wallet(payer),
  by,
});
const count = (...payments: CountedPayment[]) => db.tx((tx) => countPayments(tx, payments));

describe("the ranking", () => {
  it("puts the place of the words before all else, whatever else is known", async () => {
    await list("by-description", { description: "all about rain" });
    await list("by-tags", { tags: ["rain"] });
    await list("by-title", { title: "Rain" });
    await list("by-service", { serviceName: "rain radar" });
    await list("by-path", { url: "https://by-path.example/v1/rain" });
    await judge("by-description", { ...good, hostVerified: true });
    await count(...Array.from({ length: 40 }, (_, i) => paid("by-description", i)));
    expect(await ids({ query: "rain" })).toEqual([
      "by-path",
      "by-title",
      "by-service",
      "by-tags",
      "by-description",
    ]);
  });

  it("then a good probe, paying wallets by doublings, a verified host, age, and id", async () => {
    await list("old");
    await list("one-wallet");
    await list("verified");
    await list("many-wallets");
    await list("probed");
    await list("twin-b", { createdAt: new Date(0) });
    await list("twin-a", { createdAt: new Date(0) });
    await judge("probed", good);
    await judge("verified", { hostVerified: true });
    await count(paid("one-wallet", 1));
    await count(...[1, 2, 3].map((n) => paid("many-wallets", n)));
    expect(await ids()).toEqual([
      "probed",
      "many-wallets",
      "one-wallet",
      "verified",
      "twin-a",
      "twin-b",
      "old",
    ]);
    // two wallets are not yet the next doubling after one
    await count(paid("one-wallet", 2));
    expect((await ids()).slice(1, 3)).toEqual(["many-wallets", "one-wallet"]);
    await judge("probed", bad);
    expect(await ids()).toEqual([
      "many-wallets",
      "one-wallet",
      "verified",
      "twin-a",
      "twin-b",
      "old",
      "probed",
    ]);
  });

  it("has what is good and warned of behind what is good, and out of live=true", async () => {
    await list("warned");
    await list("fine");
    await judge("warned", { ...good, warning: "schema-changed" });
    await judge("fine", good);
    expect(await ids()).toEqual(["fine", "warned"]);
    expect(await find({ live: true })).toMatchObject({ ids: ["fine"], total: 1 });
    await judge("warned", { warning: null });
    expect(await ids()).toEqual(["warned", "fine"]);
  });

  it("shows three of a domain in front, in the ranking of each query, and loses none", async () => {
    for (let i = 0; i < 6; i += 1) {
      const tags = i >= 4 ? ["late"] : [];
      await list(`mall-${i}`, { url: `https://shop${i}.mall.example/a`, tags });
    }
    await list("corner");
    await list("kiosk", { tags: ["late"] });
    const all = ["mall-0", "mall-1", "mall-2", "corner", "kiosk", "mall-3", "mall-4", "mall-5"];
    expect(await find()).toMatchObject({ ids: all, total: 8 });
    for (const limit of [1, 3, 5]) {
      const pages: string[] = [];
      for (let offset = 0; offset < 8; offset += limit) pages.push(...(await ids({ limit, offset })));
      expect(pages).toEqual(all);
    }
    expect(await ids({ query: "late" })).toEqual(["mall-4", "mall-5", "kiosk"]);
  });

  it("is kept when a payable is projected again, and when it is hidden and shown again", async () => {
    await list("first");
    await list("second");
    await judge("second", good);
    await put(
      payableOf({ id: "second", url: "https://second.example/a", listed: true, description: "new words" }),
    );
    expect(await ids()).toEqual(["second", "first"]);
    expect(await ids({ query: "words" })).toEqual(["second"]);
    await put(payableOf({ id: "second", url: "https://second.example/a", listed: false }));
    expect(await ids()).toEqual(["first"]);
    await judge("second", { hostVerified: true });
    await put(payableOf({ id: "second", url: "https://second.example/a", listed: true }));
    expect(await ids()).toEqual(["second", "first"]);
    await put(
      payableOf({ id: "second", url: "https://second.example/a", listed: true, closedAt: new Date() }),
    );
    expect(await ids()).toEqual(["first"]);
  });
});

describe("words", () => {
  it("are found by their stem and by how they begin, all of them, without those that say nothing", async () => {
    await list("forecast", { description: "Hourly forecasts of the weather in Porto" });
    await list("other", { description: "An hourly exchange rate" });
    for (const query of [
      "forecasting",
      "fore",
      "the weather",
      "WEATHER of Porto",
      "hours weather",
      "ｗeather",
    ])
      expect([query, await ids({ query })]).toEqual([query, ["forecast"]]);
    expect((await ids({ query: "hourly" })).sort()).toEqual(["forecast", "other"]);
    for (const query of ["cast", "weather exchange", "the", "%", "_", "'", '"', "a & b | !c <-> d:*", "\\"])
      expect([query, await find({ query })]).toMatchObject([query, { ids: [], total: 0 }]);
  });

  it("are looked for whole, and as beginnings only where nothing holds them so", async () => {
    await list("rain", { description: "rain" });
    await list("rainbow", { description: "rainbow", tags: ["rainbows"] });
    expect(await find({ query: "rain" })).toMatchObject({ ids: ["rain"], total: 1 });
    expect(await find({ query: "rainb" })).toMatchObject({ ids: ["rainbow"], total: 1 });
    expect((await ids({ query: "rai" })).sort()).toEqual(["rain", "rainbow"]);
    expect(await ids({ query: "ra" })).toEqual([]);
  });

  it("of other languages and scripts are found as they are", async () => {
    await list("čaj", { id: "tea", url: "https://tea.example/%C4%8Daj", tags: [], description: "お茶 чай" });
    expect(await ids({ query: "čaj" })).toEqual(["tea"]);
    expect(await ids({ query: "чай お茶" })).toEqual(["tea"]);
  });

  it("of a merchant's name are not searched, those of the host are", async () => {
    await list("shop", { merchantName: "Rainmaker", url: "https://api.umbrella.example/x" });
    expect(await ids({ query: "rainmaker" })).toEqual([]);
    expect(await ids({ query: "umbrella" })).toEqual(["shop"]);
  });
});

describe("a filter", () => {
  it("means the same in any capitals", async () => {
    await list("shop");
    const usdc = `0x${"c1".repeat(20)}`;
    for (const filter of [
      { network: "EIP155:8453" },
      { network: "Base" },
      { asset: "usdc" },
      { asset: usdc.toUpperCase().replace("X", "x") },
      { payTo: `0x${"aA".repeat(20)}` },
      { scheme: "Exact" },
      { currency: "usd" },
    ])
      expect([filter, await ids(filter)]).toEqual([filter, ["shop"]]);
    for (const filter of [
      { network: "eip155:84" },
      { asset: "usd" },
      { scheme: "upto" },
      { currency: "eur" },
    ])
      expect([filter, await ids(filter)]).toEqual([filter, []]);
  });
});

describe("trust", () => {
  it("is nothing for what nobody knows, and says each fact once it is known", async () => {
    await list("shop");
    expect((await find()).items[0]?.trust).toEqual({
      hostVerified: false,
      settledCount: 0,
      distinctPayers: 0,
      lastProbe: null,
      warning: null,
      isLookAlike: false,
    });
    await judge("shop", { ...bad, warning: "target-changed" });
    await judge("shop", { hostVerified: true });
    await count(paid("shop", 1), paid("shop", 1), paid("shop", 2));
    expect((await find()).items[0]?.trust).toEqual({
      hostVerified: true,
      settledCount: 3,
      distinctPayers: 2,
      lastProbe: bad.probe,
      warning: "target-changed",
      isLookAlike: false,
    });
  });

  it("counts a fact once, however often and by however many at once it is told", async () => {
    const payments = Array.from({ length: 12 }, (_, i) => paid(i % 2 ? "a" : "b", i % 4));
    await Promise.all(Array.from({ length: 5 }, () => count(...payments)));
    await count(...payments.slice(3), paid("a", 77));
    const [a, b] = await readTrust(db.pool, ["a", "b"]);
    expect(a).toMatchObject({ settledCount: 7, distinctPayers: 3 });
    expect(b).toMatchObject({ settledCount: 6, distinctPayers: 2 });
  });

  it("takes a reversal off, in whatever order it is told", async () => {
    await count(paid("a", 1, -1));
    expect((await readTrust(db.pool, ["a"]))[0]?.settledCount).toBe(0);
    await count(paid("a", 1), paid("a", 1));
    expect((await readTrust(db.pool, ["a"]))[0]?.settledCount).toBe(1);
  });

  it("forgets wallets that have not paid for 90 days, and ranks by it", async () => {
    await list("faded");
    await list("fresh");
    const once = paid("fresh", 1);
    await count(...[1, 2, 3].map((n) => paid("faded", n)), once);
    expect(await ids()).toEqual(["faded", "fresh"]);
    await database.query(
      "UPDATE payable_payer SET last_paid_at = now() - interval '91 days' WHERE payable_id = 'faded'",
    );
    // one of them pays again in time
    await count(paid("faded", 2));
    await forgetOldPayers(db);
    expect((await readTrust(db.pool, ["faded"]))[0]).toMatchObject({ settledCount: 4, distinctPayers: 1 });
    await database.query(
      "UPDATE payable_payer SET last_paid_at = now() - interval '91 days' WHERE payable_id = 'faded'",
    );
    await forgetOldPayers(db);
    expect(await ids()).toEqual(["fresh", "faded"]);
    expect(await database.query("SELECT 1 FROM payable_payer")).toHaveLength(1);
    // what was counted of late is known still
    await count(once);
    expect((await readTrust(db.pool, ["fresh"]))[0]?.settledCount).toBe(1);
  });

  it("marks a look-alike of a verified merchant, never the merchant's own", async () => {
    await list("real", { merchantName: "Acme", merchantId: "mer_acme" });
    await list("second", { merchantName: "Acme", merchantId: "mer_acme" });
    await list("impostor", { merchantName: "Аcmе", merchantId: "mer_evil" });
    await list("stranger", { merchantName: "Zeta", merchantId: "mer_zeta" });
    for (const id of ["second", "impostor", "stranger"]) await judge(id, good);
    const marked = async () =>
      (await find()).items.filter(({ trust }) => trust.isLookAlike).map(({ item }) => item.id);
    expect(await marked()).toEqual([]);
    await judge("real", { hostVerified: true });
    expect(await marked()).toEqual(["impostor"]);
  });
});

describe("what can be paid no more", () => {
  it("is not shown: its time is over, or somebody is paying it, by an authorization or by a transfer", async () => {
    const kinds = ["invoice"] as const;
    const ahead = new Date(Date.now() + 3_600_000);
    for (const id of ["open", "held", "taken"])
      await list(id, { kind: "invoice", once: true, expiresAt: ahead });
    await list("over", { kind: "invoice", once: true, expiresAt: new Date(Date.now() - 1_000) });
    expect(await ids({ kinds })).toEqual(["open", "held", "taken"]);
    await database.query("UPDATE payable SET held_by = decode(repeat('77', 32), 'hex') WHERE id = 'held'");
    await database.query("UPDATE payable SET held_for = 'pi_1' WHERE id = 'taken'");
    expect(await find({ kinds })).toMatchObject({ ids: ["open"], total: 1 });
  });

  it("is what costs less than its chain takes, and not what costs just that", async () => {
    await list("below", { price: { amount: 99n, asset: "USD" } });
    await list("at", { price: { amount: 100n, asset: "USD" } });
    const dusty = [{ ...rails[0], chain: { ...chain, dustFloor: 100n } }] as typeof rails;
    const filter = { kinds: ["resource"], limit: 10, offset: 0 } as const;
    const { items } = await discoverPayables({ db, searchDb: db, now: new Date() }, dusty, filter);
    expect(items.map(({ item }) => item.id)).toEqual(["at"]);
  });
});

it("a tool of an MCP server is told from what is called over HTTP", async () => {
  await list("tool", { extensions: { bazaar: { info: { input: { type: "mcp" } } } } });
  await list("page", { extensions: { bazaar: { info: { input: { type: "http" } } } } });
  expect([await ids({ type: "mcp" }), await ids({ type: "http" })]).toEqual([["tool"], ["page"]]);
});

describe("what none of its rails is at parity with", () => {
  const eurc = offered(chain, { symbol: "EURC", contract: address(`0x${"c2".repeat(20)}`) });
  const found = async (filter: Partial<DiscoverFilter> = {}) => {
    const asked: DiscoverFilter = { kinds: ["payment-link", "resource"], limit: 100, offset: 0, ...filter };
    const page = await discoverPayables({ db, searchDb: db, now: new Date() }, [...rails, eurc], asked);
    return page.items.map(({ item }) => item.id).sort();
  };
  const link = (id: string, changes: Partial<Payable>) => list(id, { kind: "payment-link", ...changes });

  it("is found by who asks for no rail, where one of them works; a resource never is", async () => {
    const onEurc = [{ chain: "base", asset: "EURC" }];
    const gone = [{ chain: "gone", asset: "USDC" }];
    const pounds = { amount: 1_000_000n, asset: "GBP" };
    await link("any", {});
    await link("at-par", { rails: [{ chain: "base", asset: "USDC" }] });
    await link("at-rate", { rails: onEurc });
    await link("pounds", { price: pounds });
    await link("pounds-there", { price: pounds, rails: onEurc });
    await link("pounds-nowhere", { price: pounds, rails: gone });
    await link("nowhere", { rails: gone });
    await list("resource", { rails: onEurc });
    const atPar = ["any", "at-par"];
    expect(await found()).toEqual([...atPar, "at-rate", "pounds", "pounds-there"]);
    expect(await found({ network: "base" })).toEqual(atPar);
    expect(await found({ asset: "EURC" })).toEqual([]);
  });
});

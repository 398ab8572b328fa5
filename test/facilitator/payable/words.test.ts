import { describe, expect, it } from "vitest";
import { registrableDomain } from "../../../facilitator/payable/domain.ts";
import { looksOf } from "../../../facilitator/payable/looks.ts";
import { pageOf } from "../../../facilitator/payable/rank.ts";
import { totalsMemory } from "../../../facilitator/payable/totals.ts";
import { allIn, plainWords, wordsOf } from "../../../facilitator/payable/words.ts";
import { payableOf } from "./shapes.ts";

describe("words", () => {
  it("are letters and digits, in one form, with the parts of joined ones beside them", () => {
    expect(plainWords("getWeather-now/v2")).toBe("getWeather now v2 get Weather now v2");
    expect(plainWords("100%_real")).toBe("100 real");
    expect(plainWords("ﬁne Ｗeather\u0000'); DROP")).toBe("fine Weather DROP");
    expect(plainWords("天気 Žluťoučký")).toBe("天気 Žluťoučký");
    expect(plainWords("%_'\\")).toBe("");
  });

  it("stand where the payable has them, the host only in the last place", () => {
    const words = wordsOf(
      payableOf({
        url: "https://api.storms.example/w%C3%A4rme/daily",
        title: "Forecast",
        serviceName: "Sky",
        tags: ["rain"],
        description: "Tells it",
      }),
    );
    expect(words).toEqual({
      path: "wärme daily",
      title: "Forecast Sky",
      tags: "rain",
      anywhere: "wärme daily Forecast Sky rain api storms example Tells it",
    });
    expect(wordsOf(payableOf({ url: "https://m.example/%ff%zz" })).path).toBe("ff zz");
  });

  it("become a query that quotes cannot break out of", () => {
    const lexemes = ["weather", "a'b", "c\\d", "ab"];
    expect(allIn("path", lexemes, "beginning")).toBe("'pweather':* & 'pa''b':* & 'pc\\\\d':* & 'pab'");
    expect(allIn("tags", lexemes, "whole")).toBe("'gweather' & 'ga''b' & 'gc\\\\d' & 'gab'");
    const many = Array.from({ length: 20 }, (_, i) => `word${i}`);
    expect(allIn("tags", many, "whole").split("&")).toHaveLength(8);
  });
});

describe("the domain of a URL", () => {
  it.each([
    ["https://api.shop.co.uk/a", "shop.co.uk"],
    ["https://SHOP.example/", "shop.example"],
    ["https://one.vercel.app/", "one.vercel.app"],
    ["https://93.184.216.34/", "93.184.216.34"],
    ["http://127.0.0.1:4402/x", "127.0.0.1:4402"],
    ["http://localhost:8080/", "localhost:8080"],
    ["https://[2606:4700::1111]/", "[2606:4700::1111]"],
  ])("%s is %s", (url, domain) => {
    expect(registrableDomain(url)).toBe(domain);
  });
});

describe("what a name looks like", () => {
  it.each([
    ["OpenWeather", "0penWeather"],
    ["OpenWeather", "Open-Weather"],
    ["PayPal", "Рауpаl"],
    ["Illinois", "llIlnoIs"],
    ["Modern Maps", "Modem Maps"],
    ["Élan", "Elan"],
  ])("%s and %s are the same at a glance", (name, twin) => {
    expect(looksOf(name)).not.toBe("");
    expect(looksOf(twin)).toBe(looksOf(name));
  });

  it("differs for other names, and is nothing without letters", () => {
    expect(looksOf("Open Weather")).not.toBe(looksOf("Open Water"));
    expect(looksOf(" — ")).toBe("");
  });
});

describe("a page of matches", () => {
  const matches = (domains: string) => [...domains].map((domain, i) => ({ id: `${i}`, domain }));
  const all = { offset: 0, limit: 100, isAll: true };

  it("has what a domain has beyond its third place behind all others", () => {
    expect(pageOf(matches("aaaaabbac"), all)).toEqual(["0", "1", "2", "5", "6", "8", "3", "4", "7"]);
  });

  it("shows each match once, whatever the pages are cut like", () => {
    const many = matches("aabacaadaaabbbbeaaaaf");
    const whole = pageOf(many, all);
    for (const limit of [1, 2, 3, 5, 8]) {
      const cut = Array.from({ length: Math.ceil(many.length / limit) }, (_, i) =>
        pageOf(many, { offset: i * limit, limit, isAll: true }),
      ).flat();
      expect(cut).toEqual(whole);
    }
    expect([...(whole ?? [])].sort()).toEqual(many.map(({ id }) => id).sort());
  });

  it("is known from the first matches alone, or not at all", () => {
    const many = matches("aabacaadaaabbbbeaaaaf");
    const whole = pageOf(many, all) ?? [];
    for (let read = 0; read < many.length; read += 1)
      for (let offset = 0; offset < 6; offset += 1) {
        const page = pageOf(many.slice(0, read), { offset, limit: 2, isAll: false });
        if (page !== null) expect(page).toEqual(whole.slice(offset, offset + 2));
      }
    expect(pageOf(many.slice(0, 4), { offset: 0, limit: 3, isAll: false })).toEqual(["0", "1", "2"]);
    expect(pageOf(many.slice(0, 7), { offset: 3, limit: 3, isAll: false })).toBeNull();
  });
});

describe("totals", () => {
  it("are counted each time while they are small, and remembered for a moment when they are large", async () => {
    let now = 0;
    let counted = 0;
    const totals = totalsMemory({ monotonicMs: () => now });
    const ask = (filter: string, total: number) =>
      totals(filter, async () => {
        counted += 1;
        return total;
      });
    expect([await ask("few", 4_999), await ask("few", 4_998)]).toEqual([4_999, 4_998]);
    expect([await ask("many", 5_000), await ask("many", 6_000), await ask("others", 7_000)]).toEqual([
      5_000, 5_000, 7_000,
    ]);
    expect(counted).toBe(4);
    now += 10_001;
    expect([await ask("many", 10), await ask("many", 11)]).toEqual([10, 11]);
  });
});

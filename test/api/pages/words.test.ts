import { describe, expect, it } from "vitest";
import { de } from "../../../api/pages/words/de.ts";
import { en } from "../../../api/pages/words/en.ts";
import { es } from "../../../api/pages/words/es.ts";
import { fr } from "../../../api/pages/words/fr.ts";
import { speechOf } from "../../../api/pages/words/index.ts";

const blanks = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

describe("the languages", () => {
  it.each([
    ["de", de],
    ["es", es],
    ["fr", fr],
  ] as const)("%s says the same things about the same, in words of its own", (_, words) => {
    for (const key of Object.keys(en) as (keyof typeof en)[])
      expect([key, blanks(words[key])]).toEqual([key, blanks(en[key])]);
    const same = (Object.keys(en) as (keyof typeof en)[]).filter((key) => words[key] === en[key]);
    expect(same.length).toBeLessThan(12);
  });
});

describe("speechOf", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["nl, ja;q=0.5", "en"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["en;q=0.5, fr-CA", "fr"],
    ["es;q=0, de;q=0.1", "de"],
    ["constructor, __proto__", "en"],
  ])("%s is answered in %s", (accepted, lang) => {
    expect(speechOf(accepted).lang).toBe(lang);
  });

  it("fills in what it speaks of, and nothing that it does not know", () => {
    const { say } = speechOf("en");
    expect(say("pay", { merchant: "{amount} & Sons" })).toBe("Pay {amount} & Sons");
    expect(say("pay")).toBe("Pay {merchant}");
  });
});

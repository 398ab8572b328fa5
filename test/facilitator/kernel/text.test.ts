import { expect, it } from "vitest";
import { cleanText } from "#kernel/text";

const repeated = (part: string) => (length: number) => part.repeat(length / part.length);
const half = (length: number) => Math.floor(length / 2);
const nested = (length: number) => repeated("<")(length / 4) + "a>".repeat(length / 4);

it.each([
  ["opening brackets", repeated("[")],
  ["links without an end", repeated("[a](")],
  ["marks within marks", nested],
  ["marks within marks behind brackets", (n: number) => repeated("[")(half(n)) + nested(half(n))],
  ["marks within marks before links", (n: number) => nested(half(n)) + repeated("[a](")(half(n))],
  ["links within links", (n: number) => repeated("[")(n / 4) + repeated("](y)")(n / 2)],
  ["addresses within addresses", repeated("dadata:ta: ")],
])("cleans text in time that grows as it does: %s", (_, text) => {
  const [short, long] = [text(2_000), text(16_000)];
  // Eight times as long; the square would take sixty-four times as much of the processor, whoever else wants it.
  expect(cost(long)).toBeLessThan(30 * Math.max(cost(short), 1_000));
});

/** Of the processor, µs: the least of several times. */
function cost(text: string): number {
  const once = () => {
    const before = process.cpuUsage();
    cleanText(text);
    return process.cpuUsage(before).user;
  };
  return Math.min(once(), once(), once());
}

it("leaves no mark in text that nests them deeper than anybody would", () => {
  const tags = "<".repeat(40) + "a>".repeat(40);
  const links = `${"[".repeat(40)}x${"](y)".repeat(40)}`;
  const addresses = `${"dadata:x ".repeat(40)}${"ta:y ".repeat(40)}`;
  for (const text of [tags, links, addresses]) {
    const clean = cleanText(`${text} and what is meant`);
    expect(clean).toContain("and what is meant");
    expect(clean).not.toMatch(/<[a-z/!?]|\[[^[\]]*\]\(|\bdata:/i);
    expect(cleanText(clean)).toBe(clean);
  }
});

it.each([
  ["[[[a](x)](x)](x)", "a"],
  ["[a[b](c)", "[ab"],
  ["see [a](b(c)d) and (e", "see ad) and (e"],
])("takes where %s leads out of it", (text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

/** Formats that are drawn: marks that stand before numbers. */
const DRAWN = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

it("takes out every character that a person does not see and a model does", () => {
  const left: string[] = [];
  for (let code = 0; code <= 0x10_ff_ff; code += 1) {
    const each = String.fromCodePoint(code);
    const isSeen = DRAWN.test(each) || !/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(each);
    if (!isSeen && !["ab", "a b"].includes(cleanText(`a${each}b`))) left.push(code.toString(16));
  }
  expect(left).toEqual([]);
});

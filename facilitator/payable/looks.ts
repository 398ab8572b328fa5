/** Letters and digits of other scripts that are drawn like Latin ones, and pairs that are read as one letter. */
const twins: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "5": "s",
  i: "l",
  "|": "l",
  а: "a",
  в: "b",
  е: "e",
  ё: "e",
  і: "l",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  ѕ: "s",
  ј: "j",
  α: "a",
  β: "b",
  ε: "e",
  ι: "l",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
};

/** What a name looks like at a glance: two names that a reader would take for each other give the same text. Empty for
 *  a name without letters. */
export function looksOf(name: string): string {
  const bare = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  return [...bare.replace(/rn/g, "m").replace(/vv/g, "w")]
    .map((letter) => twins[letter] ?? letter)
    .join("")
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

import type { Payable } from "./payable.ts";

/** Where a word stands, best place first. */
export const places = ["path", "title", "tags", "anywhere"] as const;
export type WordPlace = (typeof places)[number];

/** What each word of the index begins with, so that a word of the path is another one than the same in a description.
 *  Rows hold these letters. */
const marks = { path: "p", title: "t", tags: "g", anywhere: "a" } as const satisfies Record<
  WordPlace,
  string
>;

/** A query of more words than this is cut: every word narrows the result, and costs a look-up. */
const MAX_WORDS = 8;
/** Shorter words are found whole only: too many others begin like them. */
const SHORTEST_BEGINNING = 3;

/** The words of each place, as text that the text search of the database splits at spaces alone. */
export function wordsOf(item: Payable): Readonly<Record<WordPlace, string>> {
  const { hostname, pathname } = new URL(item.url);
  const path = plainWords(decoded(pathname));
  const title = plainWords([item.title ?? "", item.serviceName ?? ""].join(" "));
  const tags = plainWords(item.tags.join(" "));
  const rest = plainWords([hostname, item.description, item.number ?? ""].join(" "));
  return { path, title, tags, anywhere: [path, title, tags, rest].join(" ") };
}

/** Letters and digits only. `getWeather` is found by itself and by its parts. */
export function plainWords(text: string): string {
  const plain = text.normalize("NFKC");
  const parts = plain.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  const all = parts === plain ? plain : `${plain} ${parts}`;
  return all.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
}

/** A text search query for rows that hold all these lexemes in one place: whole, or as the beginnings of words. */
export function allIn(place: WordPlace, lexemes: readonly string[], as: "whole" | "beginning"): string {
  return lexemes
    .slice(0, MAX_WORDS)
    .map((lexeme) => {
      const quoted = `${mark(place)}${lexeme}`.replaceAll("'", "''").replaceAll("\\", "\\\\");
      return `'${quoted}'${as === "beginning" && lexeme.length >= SHORTEST_BEGINNING ? ":*" : ""}`;
    })
    .join(" & ");
}

export function mark(place: WordPlace): string {
  return marks[place];
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

import { parseAccept } from "hono/utils/accept";
import { de } from "./de.ts";
import { en, type Words } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";

export type { Words } from "./en.ts";

const languages: Readonly<Record<string, Words>> = { en, de, fr, es };

/** A language and how to say things in it. */
export interface Speech {
  readonly lang: string;
  /** The words for a key, with what they speak of filled in. */
  readonly say: (key: keyof Words, about?: Readonly<Record<string, string | number>>) => string;
}

/** The first language of `Accept-Language` that we speak; English for anybody else. */
export function speechOf(accepted: string | undefined): Speech {
  const wanted = parseAccept(accepted ?? "")
    .filter(({ q }) => q > 0)
    .map(({ type }) => type.toLowerCase().split("-")[0] ?? "");
  const lang = wanted.find((each) => Object.hasOwn(languages, each)) ?? "en";
  const words = languages[lang] ?? en;
  return { lang, say: (key, about = {}) => fill(words[key], about) };
}

function fill(text: string, about: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(about, name) ? String(about[name]) : whole,
  );
}

/** The words that the script of the page says, as they are. */
export function wordsOf(lang: string, keys: readonly (keyof Words)[]): Partial<Words> {
  const words = languages[lang] ?? en;
  return Object.fromEntries(keys.map((key) => [key, words[key]]));
}

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Font } from "fontkit";

/** Fonts of Chinese, Japanese and Korean, which lie in some hundred slices each: by these they are called. */
const families = ["sc", "jp", "kr"] as const;
type Family = (typeof families)[number];

const { resolve } = createRequire(import.meta.url);
const fileOf = (family: Family, name: string) => resolve(`@fontsource-variable/noto-sans-${family}/${name}`);

/** A font for each of these letters that one has. */
export async function openLetters(wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, Font>> {
  const found = new Map<string, Font>();
  for (const family of orderFor([...wanted].join(""))) {
    if (found.size === wanted.size) break;
    const slices = await slicesOf(family);
    for (const letter of wanted) {
      const code = letter.codePointAt(0) ?? 0;
      const name = found.has(letter) ? undefined : slices.get(code);
      const font = name === undefined ? undefined : await openSlice(family, name);
      if (font?.hasGlyphForCodePoint(code)) found.set(letter, font);
    }
  }
  return found;
}

/** The same sign is drawn otherwise in Japan, and in Korea, than in China. */
function orderFor(text: string): readonly Family[] {
  const first = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? "jp"
    : /\p{Script=Hangul}/u.test(text)
      ? "kr"
      : "sc";
  return [first, ...families.filter((each) => each !== first)];
}

/** The slice of each letter, by its number. */
type Slices = ReadonlyMap<number, string>;
const known = new Map<Family, Promise<Slices>>();

function slicesOf(family: Family): Promise<Slices> {
  const slices = known.get(family) ?? readSlices(family);
  known.set(family, slices);
  slices.catch(() => known.delete(family)); // the next document tries again
  return slices;
}

async function readSlices(family: Family): Promise<Slices> {
  const ranges: Readonly<Record<string, string>> = JSON.parse(
    await readFile(fileOf(family, "unicode.json"), "utf8"),
  );
  const slices = new Map<number, string>();
  for (const [name, text] of Object.entries(ranges))
    for (const [from, to] of text.split(",").map(spanOf))
      for (let code = from; code <= to; code += 1)
        if (!slices.has(code)) slices.set(code, name.replace(/[[\]]/g, ""));
  return slices;
}

/** `U+4e00-4e0f` or `U+4e00` */
function spanOf(text: string): readonly [from: number, to: number] {
  const [from = "", to = from] = text.replace("U+", "").split("-");
  return [Number.parseInt(from, 16), Number.parseInt(to, 16)];
}

/** Slices that were read are kept, as the other fonts are. All together take 120 MB; to let some go would have whoever writes
 *  in rare letters make each print read them again, 25 ms each. */
const opened = new Map<string, Promise<Font>>();

function openSlice(family: Family, name: string): Promise<Font> {
  const file = `files/noto-sans-${family}-${name}-wght-normal.woff2`;
  const font = opened.get(file) ?? readSlice(fileOf(family, file));
  opened.set(file, font);
  font.catch(() => opened.delete(file)); // the next document tries again
  return font;
}

/** A PDF holds no font of variable weight. */
async function readSlice(file: string): Promise<Font> {
  const [{ default: subsetFont }, { create }] = await Promise.all([import("subset-font"), import("fontkit")]);
  const options = { targetFormat: "truetype", keepAllGlyphs: true, variationAxes: { wght: 400 } } as const;
  return create(await subsetFont(await readFile(file), null, options));
}

/** Control, bidirectional, zero-width and tag characters: invisible to a person, not to a model. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being removed
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]|[\u{1d173}-\u{1d17a}]/gu;

/** Merchant text as it is stored and shown: plain, on one line, without anything a reader could take for markup or
 *  an instruction channel. Source: security.md §5, agents.md §8. */
export function cleanText(text: string): string {
  // Again until nothing changes: taking one thing out must not put another together.
  let before = text.normalize("NFC");
  for (;;) {
    const after = cleanOnce(before);
    if (after === before) return after;
    before = after;
  }
}

function cleanOnce(text: string): string {
  return text
    .replace(/[\n\r\t\u2028\u2029]+/g, " ")
    .replace(HIDDEN, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\bdata:[^\s"'<>]*/gi, "")
    .replace(/<[a-z/!?][^<>]*>?/gi, "")
    .replace(/\s+/g, " ")
    .trim()
    .normalize("NFC");
}

/** The same of text on several lines, which stay lines; of empty ones between them one is kept. */
export function cleanLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map(cleanText);
  const isSpare = (line: string, i: number) => line === "" && lines[i - 1] === "";
  return lines.filter((line, i) => !isSpare(line, i));
}

/** The first `limit` characters of cleaned text; never half of a pair, nor a space at the end. */
export function cutText(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : text
        .slice(0, limit)
        .replace(/\p{Surrogate}$/u, "")
        .trim();
}

/** Control, bidirectional, zero-width, blank filler, tag and variation characters: invisible to a person, not to a model. */
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u{13430}-\u{1343f}]/gu;

/** Merchant text as it is stored and shown: plain, on one line, without anything a reader could take for markup or
 *  an instruction channel. Source: security.md §5, agents.md §8. */
export function cleanText(text: string): string {
  // Again until nothing changes: taking one thing out must not put another together.
  let before = text.normalize("NFC");
  for (let pass = 1; ; pass += 1) {
    const after = cleanOnce(pass > PASSES ? before.replace(OPENING, " ") : before);
    if (after === before) return after;
    before = after;
  }
}

/** Nobody who means well nests deeper: what does would take as many passes as it has letters. */
const PASSES = 8;
/** What every mark that is taken out begins with. */
const OPENING = /[[<]|data:/gi;

/** Takes time in proportion to the text, whatever that is. */
function cleanOnce(text: string): string {
  return unlinked(text.replace(/[\n\r\t\u2028\u2029]+/g, " ").replace(HIDDEN, ""))
    .replace(/\bdata:[^\s"'<>]*/gi, "")
    .replace(/<[a-z/!?][^<>]*>?/gi, "")
    .replace(/\s+/g, " ")
    .trim()
    .normalize("NFC");
}

/** Links without where they lead. Behind the last closing one no parenthesis is looked for its end. */
function unlinked(text: string): string {
  const end = text.lastIndexOf(")") + 1;
  return text.slice(0, end).replace(/!?\[([^[\]]*)\]\([^)]*\)/g, "$1") + text.slice(end);
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

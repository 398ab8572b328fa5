import type { Font } from "fontkit";
import LineBreaker from "linebreak";

/** A part of a line that one font draws. */
export interface Span {
  readonly text: string;
  readonly font: Font;
}

/** Which font draws which letter. */
export interface Fonts {
  readonly own: Font;
  /** Those of letters that `own` may lack. */
  readonly others: ReadonlyMap<string, Font>;
}

/** A text as its fonts draw it. What none has is named by its number: a name with a hole in it may be taken for
 *  another one. */
export function spansOf(text: string, { own, others }: Fonts): readonly Span[] {
  return joined(
    [...text].map((letter) => {
      const code = letter.codePointAt(0) ?? 0;
      if (own.hasGlyphForCodePoint(code)) return { text: letter, font: own };
      const font = others.get(letter);
      return font ? { text: letter, font } : { text: `[U+${hexOf(code)}]`, font: own };
    }),
  );
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}

function joined(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const span of spans) {
    const last = whole.at(-1);
    if (last?.font !== span.font) whole.push(span);
    else whole[whole.length - 1] = { text: last.text + span.text, font: last.font };
  }
  return whole;
}

export type Measure = (span: Span) => number;

/** Lines of spans, none wider than `width`: broken where Unicode lets a line end, or between letters where it does not in
 *  time. */
export function linesOf(
  spans: readonly Span[],
  width: number,
  measure: Measure,
): readonly (readonly Span[])[] {
  const widthOf = (part: readonly Span[]) => part.reduce((sum, span) => sum + measure(span), 0);
  const parts = partsOf(spans).flatMap((part) => (widthOf(part) > width ? lettersOf(part) : [part]));
  const lines: Span[][] = [[]];
  let used = 0;
  for (const part of parts) {
    if (used > 0 && used + widthOf(trimmed(part)) > width) {
      lines.push([]);
      used = 0;
    }
    lines.at(-1)?.push(...part);
    used += widthOf(part);
  }
  return lines.map((line) => trimmed(joined(line)));
}

/** Parts between which a line may end. */
function partsOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const breaker = new LineBreaker(spans.map(({ text }) => text).join(""));
  const parts: (readonly Span[])[] = [];
  let from = 0;
  for (let next = breaker.nextBreak(); next; next = breaker.nextBreak()) {
    parts.push(sliced(spans, from, next.position));
    from = next.position;
  }
  return parts;
}

function sliced(spans: readonly Span[], from: number, to: number): readonly Span[] {
  let at = 0;
  return spans.flatMap(({ text, font }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return part === "" ? [] : [{ text: part, font }];
  });
}

function lettersOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  return spans.flatMap(({ text, font }) => [...text].map((letter) => [{ text: letter, font }]));
}

/** Without the blanks at its end. */
function trimmed(spans: readonly Span[]): readonly Span[] {
  const last = spans.at(-1);
  return last ? [...spans.slice(0, -1), { text: last.text.trimEnd(), font: last.font }] : spans;
}

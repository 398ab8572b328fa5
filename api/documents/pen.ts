import type { Font } from "fontkit";
import type PDFDocument from "pdfkit";
import { type Fonts, linesOf, type Measure, type Span, spansOf } from "./spans.ts";

export type Doc = InstanceType<typeof PDFDocument>;
export type Face = "regular" | "bold" | "mono";
export type Faces = Readonly<Record<Face, Font>>;

/** Where text is written: from here on, on as many lines as it takes. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly width: number;
  readonly align?: "left" | "right";
  readonly lineBreak?: boolean;
  readonly link?: string;
}

/** Writes in one face and size. */
export interface Ink {
  text(text: string, at: Place, box: Box): void;
  heightOf(text: string, box: Box): number;
}
export type Pen = (face: Face, size: number, colour: string) => Ink;

/** What a pen draws with. */
export interface Case {
  readonly faces: Faces;
  /** Letters that one of the faces lacks. */
  readonly beyond: ReadonlySet<string>;
  /** Which of these another font has. */
  readonly others: Fonts["others"];
}

/** What the faces have, which nearly all is, is left to the library. */
export function pen(doc: Doc, { faces, beyond, others }: Case): Pen {
  const isPlain = (text: string) => beyond.size === 0 || ![...text].some((letter) => beyond.has(letter));
  const take = takeOf(doc);
  const widths = keptWidths();
  return (face, size, colour) => {
    const fonts = { own: faces[face], others };
    const dip = () => take(fonts.own).fontSize(size).fillColor(colour);
    return {
      text(text, { x, y }, box) {
        if (isPlain(text)) dip().text(text, x, y, box);
        else writeSpans(dip(), spansOf(text, fonts), { own: fonts.own, size, take, widths }, { x, y }, box);
      },
      heightOf(text, box) {
        if (isPlain(text)) return dip().heightOfString(text, box);
        const lines = linesOf(spansOf(text, fonts), box.width, measureOf(widths, size));
        return lines.length * heightOf(dip());
      },
    };
  };
}

function heightOf(doc: Doc): number {
  return doc.currentLineHeight(true);
}

/** As a part of the size. */
type Widths = (span: Span) => number;

/** Each text is laid out once a document: what is looked at letter by letter is, several times over. */
function keptWidths(): Widths {
  const known = new Map<Font, Map<string, number>>();
  return ({ text, font }) => {
    const ofFont = known.get(font) ?? new Map<string, number>();
    known.set(font, ofFont);
    const width = ofFont.get(text) ?? font.layout(text).advanceWidth / font.unitsPerEm;
    ofFont.set(text, width);
    return width;
  };
}

function measureOf(widths: Widths, size: number): Measure {
  return (span) => widths(span) * size;
}

type Take = (font: Font) => Doc;

/** By a name each: the library compares one that has none with those it knows, each time anew. */
function takeOf(doc: Doc): Take {
  const known = new Map<Font, string>();
  return (font) => {
    const name = known.get(font) ?? `font ${known.size}`;
    if (!known.has(font)) doc.registerFont(name, font);
    known.set(font, name);
    return doc.font(name);
  };
}

interface Manner {
  readonly own: Font;
  readonly size: number;
  readonly take: Take;
  readonly widths: Widths;
}

/** Each line on the base line of the face, whatever fonts are on it. */
function writeSpans(
  doc: Doc,
  spans: readonly Span[],
  { own, size, take, widths }: Manner,
  { x, y }: Place,
  { width, align, link }: Box,
): void {
  const height = heightOf(doc);
  const ascent = (own.ascent / own.unitsPerEm) * size;
  const measure = measureOf(widths, size);
  let top = y;
  for (const line of linesOf(spans, width, measure)) {
    if (top + height > doc.page.maxY()) {
      doc.addPage();
      top = doc.y;
    }
    const used = line.reduce((sum, span) => sum + measure(span), 0);
    let left = align === "right" ? x + width - used : x;
    for (const span of line) {
      const wide = measure(span);
      const options = { lineBreak: false, baseline: "alphabetic" as const, ...(link && { link }) };
      take(span.font).text(span.text, left, top + ascent, options);
      left += wide;
    }
    top += height;
  }
  doc.x = x;
  doc.y = top;
}

/** The sheet that documents are drawn on: A4, one column, the same bytes for the same record. */
import { createRequire } from "node:module";
import type { Font } from "fontkit";
import type PDFDocument from "pdfkit";
import { create as createCode } from "qrcode";
import { cleanLines, cleanText, cutText } from "#kernel/text";
import type { Letterhead } from "../merchant/verbs/brand.ts";

const files = { regular: "DejaVuSans", bold: "DejaVuSans-Bold", mono: "DejaVuSansMono" } as const;

const MARGIN = 56;
const WIDTH = 595.28 - 2 * MARGIN;
const BOTTOM = 841.89 - MARGIN;
const FOOT = BOTTOM + 20;
const INK = "#16202c";
const FAINT = "#5b6876";
const LINE = "#d5dbe1";
const LABEL_WIDTH = 150;
const stampInk = { good: "#1f7a4d", over: "#b4492f" } as const;

export interface Sheet {
  /** The name of the document at the top, with what it is about beside it. */
  title(text: string, beside: string): void;
  heading(text: string): void;
  /** Text on as many lines as it was written on. */
  paragraph(text: string): void;
  /** Label and value, on as many lines as it was written on; `mono` for what is compared letter by letter. */
  row(label: string, value: string, style?: "mono" | "strong"): void;
  /** Cells of a table, the last ones aligned right; the first row is its head, again on each further page. `widths` are
   *  shares. */
  table(widths: readonly number[], rows: readonly (readonly string[])[]): void;
  /** A code for a phone, with what it leads to beside it. */
  code(url: string, beside: string): void;
  /** One word across the top, such as PAID. */
  stamp(word: string, mood: keyof typeof stampInk): void;
  end(): Promise<Uint8Array>;
}

/** What a document needs besides its record. */
export interface Drawn {
  readonly baseUrl: string;
  readonly head: Letterhead;
}

interface SheetOptions {
  readonly title: string;
  /** The day of the record: a document says nothing of the moment it was drawn. */
  readonly at: Date;
  readonly head: Letterhead;
}

export async function openSheet({ title, at, head }: SheetOptions): Promise<Sheet> {
  tools ??= openTools().catch((error: unknown) => {
    tools = undefined; // the next document tries again
    throw error;
  });
  const { Document, fonts } = await tools;
  const doc = new Document({
    size: "A4",
    margin: MARGIN,
    bufferPages: true,
    font: "", // none to begin with: each text names its own
    lang: "en",
    pdfVersion: "1.7",
    info: { Title: clean(title), Producer: "Farebox", Creator: "Farebox", CreationDate: at, ModDate: at },
  });
  const chunks: Buffer[] = [];
  const written = new Promise<Uint8Array>((done, failed) => {
    doc.on("data", (chunk: Buffer) => chunks.push(chunk));
    doc.on("end", () => done(Buffer.concat(chunks)));
    doc.on("error", failed);
  });
  const write = pen(doc, fonts);
  drawHead(doc, head);
  const end = () => {
    numberPages(doc, write, title);
    doc.end();
    return written;
  };
  return { ...textOn(doc, write), ...figuresOn(doc, write), end };
}

/** What is drawn with: read when the first document is drawn, since it takes a fifth of a second and 20 MB, and many
 *  processes never draw; and kept, since to read the fonts again takes three times as long as to draw. */
let tools: ReturnType<typeof openTools> | undefined;

async function openTools() {
  const [{ default: Document }, { openSync }] = await Promise.all([import("pdfkit"), import("fontkit")]);
  const { resolve } = createRequire(import.meta.url);
  const open = (face: Face) => openSync(resolve(`dejavu-fonts-ttf/ttf/${files[face]}.ttf`));
  return { Document, fonts: { regular: open("regular"), bold: open("bold"), mono: open("mono") } };
}

type Doc = InstanceType<typeof PDFDocument>;
type Face = keyof typeof files;
type Pen = ReturnType<typeof pen>;

const LOGO = { width: 150, height: 48 };
const BAND = 10;

/** The merchant's colour along the upper edge, and its picture; nothing is written on either. */
function drawHead(doc: Doc, { colour, png }: Letterhead): void {
  if (colour !== null) doc.rect(0, 0, doc.page.width, BAND).fill(colour);
  if (png === null) return;
  doc.image(png, MARGIN, MARGIN, { fit: [LOGO.width, LOGO.height] });
  doc.y = MARGIN + LOGO.height + 14;
}

function pen(doc: Doc, fonts: Readonly<Record<Face, Font>>) {
  return (face: Face, size: number, colour: string = INK): Doc =>
    doc.font(fonts[face]).fontSize(size).fillColor(colour);
}

/** Merchants and buyers write what stands here: no control characters, and nothing that turns the line around. */
function clean(text: string): string {
  return cleanText(text);
}

/** Whether a page was begun, since what comes next is that high. */
function room(doc: Doc, height: number): boolean {
  const isShort = doc.y + height > BOTTOM;
  if (isShort) doc.addPage();
  return isShort;
}

/** Where there are several, each says at its foot which it is, and of what. */
function numberPages(doc: Doc, write: Pen, title: string): void {
  const { count } = doc.bufferedPageRange();
  if (count === 1) return;
  for (let i = 0; i < count; i += 1) {
    doc.switchToPage(i);
    doc.page.margins.bottom = 0; // or what is written below it begins a page
    const at = { width: WIDTH, lineBreak: false };
    write("regular", 8, FAINT).text(cutText(clean(title), 90), MARGIN, FOOT, at);
    doc.text(`Page ${i + 1} of ${count}`, MARGIN, FOOT, { ...at, align: "right" });
  }
}

function textOn(doc: Doc, write: Pen): Pick<Sheet, "title" | "heading" | "paragraph" | "row"> {
  return {
    title(text, beside) {
      write("bold", 20).text(clean(text), MARGIN, doc.y, { width: WIDTH });
      write("regular", 10, FAINT).text(clean(beside), { width: WIDTH });
      doc.moveDown(1);
    },
    heading(text) {
      room(doc, 60);
      doc.moveDown(0.8);
      write("bold", 11).text(clean(text), MARGIN, doc.y, { width: WIDTH });
      rule(doc, doc.y + 3);
      doc.y += 9;
    },
    paragraph(text) {
      room(doc, 30);
      for (const line of cleanLines(text)) {
        room(doc, 12);
        if (line === "") doc.moveDown(0.6);
        else write("regular", 9, FAINT).text(line, MARGIN, doc.y, { width: WIDTH });
      }
      doc.moveDown(0.4);
    },
    row(label, value, style) {
      const named = clean(label);
      for (const [i, line] of cleanLines(value).entries())
        drawRow(doc, write, { label: i === 0 ? named : "", line, style });
      doc.y += 3;
    },
  };
}

interface RowLine {
  readonly label: string;
  readonly line: string;
  readonly style: "mono" | "strong" | undefined;
}

function drawRow(doc: Doc, write: Pen, { label, line, style }: RowLine): void {
  const face = style === "mono" ? "mono" : style === "strong" ? "bold" : "regular";
  const size = style === "mono" ? 7.5 : 9;
  const options = { width: WIDTH - LABEL_WIDTH };
  room(doc, write(face, size).heightOfString(line, options) + 4);
  const top = doc.y;
  if (label !== "") write("regular", 9, FAINT).text(label, MARGIN, top, { width: LABEL_WIDTH - 8 });
  const below = doc.y;
  write(face, size).text(line, MARGIN + LABEL_WIDTH, top + (style === "mono" ? 1 : 0), options);
  doc.y = Math.max(below, doc.y);
}

function rule(doc: Doc, y: number): void {
  doc
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + WIDTH, y)
    .lineWidth(0.7)
    .strokeColor(LINE)
    .stroke();
}

function figuresOn(doc: Doc, write: Pen): Pick<Sheet, "table" | "code" | "stamp"> {
  return {
    table(widths, rows) {
      const total = widths.reduce((sum, width) => sum + width, 0);
      const wide = widths.map((width) => (width / total) * WIDTH);
      const [head = [], ...body] = rows.map((cells) => cells.map(clean));
      room(doc, HEAD_AND_ROW);
      drawCells(write, wide, head, "bold");
      for (const cells of body) {
        if (room(doc, heightOf(write, wide, cells, "regular"))) drawCells(write, wide, head, "bold");
        drawCells(write, wide, cells, "regular");
      }
      doc.moveDown(0.4);
    },
    code(url, beside) {
      const size = 84;
      room(doc, size + 12);
      doc.moveDown(0.8);
      const top = doc.y;
      drawCode(doc, url, { x: MARGIN, y: top, size });
      const options = { width: WIDTH - size - 16 };
      write("regular", 9, FAINT).text(clean(beside), MARGIN + size + 16, top + 6, options);
      write("regular", 9).text(url, { ...options, link: url });
      doc.y = Math.max(doc.y, top + size) + 6;
    },
    stamp(word, mood) {
      const { y } = doc;
      write("bold", 20, stampInk[mood]).text(clean(word), MARGIN, MARGIN, {
        width: WIDTH,
        align: "right",
      });
      doc.y = y;
    },
  };
}

/** A table does not begin with a head alone at the foot of a page. */
const HEAD_AND_ROW = 44;

const cellOf = (widths: readonly number[], i: number) => ({
  width: (widths[i] ?? 0) - 6,
  align: i === 0 ? ("left" as const) : ("right" as const),
});

function heightOf(write: Pen, widths: readonly number[], cells: readonly string[], face: Face): number {
  const doc = write(face, 9);
  return Math.max(...cells.map((text, i) => doc.heightOfString(text, cellOf(widths, i)))) + 8;
}

function drawCells(write: Pen, widths: readonly number[], cells: readonly string[], face: Face): void {
  const height = heightOf(write, widths, cells, face);
  const doc = write(face, 9, face === "bold" ? FAINT : INK);
  const top = doc.y;
  let x = MARGIN;
  for (const [i, text] of cells.entries()) {
    doc.text(text, x, top, cellOf(widths, i));
    x += widths[i] ?? 0;
  }
  rule(doc, top + height - 5);
  doc.y = top + height;
}

function drawCode(
  doc: Doc,
  text: string,
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
): void {
  const { modules } = createCode(text, { errorCorrectionLevel: "M" });
  const step = size / modules.size;
  for (let row = 0; row < modules.size; row += 1)
    for (let column = 0; column < modules.size; column += 1)
      if (modules.get(row, column)) doc.rect(x + column * step, y + row * step, step, step);
  doc.fill(INK);
}

/** The sheet that documents are drawn on: A4, one column, the same bytes for the same record. */
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import { create as createCode } from "qrcode";
import { gate } from "#kernel/gate";
import { cleanLines, cleanText, cutText } from "#kernel/text";
import type { Letterhead } from "../merchant/verbs/brand.ts";
import { openLetters } from "./letters.ts";
import { type Doc, type Face, type Faces, type Pen, type Place, pen } from "./pen.ts";

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

/** Drawing takes the processor: one document at a time, and all else in the process waits for no more than a step of it. */
const drawing = gate(1);

export async function openSheet({ title, at, head }: SheetOptions): Promise<Sheet> {
  tools ??= openTools().catch((error: unknown) => {
    tools = undefined; // the next document tries again
    throw error;
  });
  const { Document, faces } = await tools;
  const { steps, texts, ...sheet } = record();
  const draw = async () => {
    const beyond = lettersBeyond(faces, [title, ...texts].flatMap(cleanLines).join(""));
    const others = await openLetters(beyond);
    const { doc, written } = open(Document, { title, at });
    const write = pen(doc, { faces, beyond, others });
    drawHead(doc, head);
    const draws = { ...textOn(doc, write), ...figuresOn(doc, write) };
    for (const step of steps) {
      step(draws);
      await setImmediate();
    }
    numberPages(doc, write, title);
    drawPicture(doc, head);
    doc.end();
    return written;
  };
  return { ...sheet, end: () => drawing.enter(draw) };
}

type Cells = readonly string[];
interface Table {
  readonly widths: readonly number[];
  readonly head: Cells;
}
/** The same in steps that are short. */
interface Draws extends Omit<Sheet, "end" | "table"> {
  headings(table: Table): void;
  cells(table: Table, cells: Cells): void;
  tableEnd(): void;
}

/** What is drawn is noted first: its letters tell which fonts it takes, and to open those takes a while. */
function record() {
  const steps: ((draws: Draws) => void)[] = [];
  const texts: string[] = [];
  const note = (said: readonly string[], step: (draws: Draws) => void) => {
    texts.push(...said);
    steps.push(step);
  };
  const sheet: Omit<Sheet, "end"> = {
    title: (text, beside) => note([text, beside], (on) => on.title(text, beside)),
    heading: (text) => note([text], (on) => on.heading(text)),
    paragraph: (text) => note([text], (on) => on.paragraph(text)),
    row: (label, value, style) => note([label, value], (on) => on.row(label, value, style)),
    table(widths, [head = [], ...rows]) {
      const table = { widths, head };
      note(head, (on) => on.headings(table));
      for (const cells of rows) note(cells, (on) => on.cells(table, cells));
      note([], (on) => on.tableEnd());
    },
    code: (url, beside) => note([url, beside], (on) => on.code(url, beside)),
    stamp: (word, mood) => note([word], (on) => on.stamp(word, mood)),
  };
  return { ...sheet, steps, texts };
}

/** Those that one of the faces lacks. */
function lettersBeyond(faces: Faces, text: string): ReadonlySet<string> {
  const lacks = (letter: string) =>
    Object.values(faces).some((face) => !face.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0));
  return new Set([...new Set(text)].filter(lacks));
}

function open(Document: Tools["Document"], { title, at }: Pick<SheetOptions, "title" | "at">) {
  const doc: Doc = new Document({
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
  return { doc, written };
}

/** What is drawn with: read when the first document is drawn, since it takes a fifth of a second and 20 MB, and many
 *  processes never draw; and kept, since to read the fonts again takes three times as long as to draw. */
let tools: Promise<Tools> | undefined;
type Tools = Awaited<ReturnType<typeof openTools>>;

async function openTools() {
  const [{ default: Document }, { openSync }] = await Promise.all([import("pdfkit"), import("fontkit")]);
  const { resolve } = createRequire(import.meta.url);
  const open = (face: Face) => openSync(resolve(`dejavu-fonts-ttf/ttf/${files[face]}.ttf`));
  return { Document, faces: { regular: open("regular"), bold: open("bold"), mono: open("mono") } };
}

const LOGO = { width: 150, height: 48 };
const BAND = 10;

/** The merchant's colour along the upper edge, and room for its picture; nothing is written on either. */
function drawHead(doc: Doc, { colour, png }: Letterhead): void {
  if (colour !== null) doc.rect(0, 0, doc.page.width, BAND).fill(colour);
  if (png !== null) doc.y = MARGIN + LOGO.height + 14;
}

/** Last of all: its pixels are read meanwhile, and what is written before they are there comes ahead of them in the file. */
function drawPicture(doc: Doc, { png }: Letterhead): void {
  if (png === null) return;
  doc.switchToPage(0);
  doc.image(png, MARGIN, MARGIN, { fit: [LOGO.width, LOGO.height] });
}

/** Merchants and buyers write what stands here: no control characters, and nothing that turns the line around. */
function clean(text: string): string {
  return cleanText(text);
}

function here({ y }: Doc): Place {
  return { x: MARGIN, y };
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
    const [ink, at, box] = [
      write("regular", 8, FAINT),
      { x: MARGIN, y: FOOT },
      { width: WIDTH, lineBreak: false },
    ];
    ink.text(cutText(clean(title), 90), at, box);
    ink.text(`Page ${i + 1} of ${count}`, at, { ...box, align: "right" });
  }
}

function textOn(doc: Doc, write: Pen): Pick<Sheet, "title" | "heading" | "paragraph" | "row"> {
  return {
    title(text, beside) {
      write("bold", 20, INK).text(clean(text), here(doc), { width: WIDTH });
      write("regular", 10, FAINT).text(clean(beside), here(doc), { width: WIDTH });
      doc.moveDown(1);
    },
    heading(text) {
      room(doc, 60);
      doc.moveDown(0.8);
      write("bold", 11, INK).text(clean(text), here(doc), { width: WIDTH });
      rule(doc, doc.y + 3);
      doc.y += 9;
    },
    paragraph(text) {
      room(doc, 30);
      for (const line of cleanLines(text)) {
        room(doc, 12);
        if (line === "") doc.moveDown(0.6);
        else write("regular", 9, FAINT).text(line, here(doc), { width: WIDTH });
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
  const [ink, box] = [write(face, size, INK), { width: WIDTH - LABEL_WIDTH }];
  room(doc, ink.heightOf(line, box) + 4);
  const top = doc.y;
  if (label !== "") write("regular", 9, FAINT).text(label, here(doc), { width: LABEL_WIDTH - 8 });
  const below = doc.y;
  ink.text(line, { x: MARGIN + LABEL_WIDTH, y: top + (style === "mono" ? 1 : 0) }, box);
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

function figuresOn(doc: Doc, write: Pen): Pick<Draws, "headings" | "cells" | "tableEnd" | "code" | "stamp"> {
  const drawHeadings = ({ widths, head }: Table) =>
    drawCells(doc, write, { widths: wide(widths), cells: head.map(clean), face: "bold" });
  return {
    headings(table) {
      room(doc, HEAD_AND_ROW);
      drawHeadings(table);
    },
    cells(table, row) {
      const [widths, cells] = [wide(table.widths), row.map(clean)];
      if (room(doc, heightOf(write, widths, cells, "regular"))) drawHeadings(table);
      drawCells(doc, write, { widths, cells, face: "regular" });
    },
    tableEnd: () => void doc.moveDown(0.4),
    code(url, beside) {
      const size = 84;
      room(doc, size + 12);
      doc.moveDown(0.8);
      const top = doc.y;
      drawCode(doc, url, { x: MARGIN, y: top, size });
      const [x, box] = [MARGIN + size + 16, { width: WIDTH - size - 16 }];
      write("regular", 9, FAINT).text(clean(beside), { x, y: top + 6 }, box);
      write("regular", 9, INK).text(url, { x, y: doc.y }, { ...box, link: url });
      doc.y = Math.max(doc.y, top + size) + 6;
    },
    stamp(word, mood) {
      const { y } = doc;
      write("bold", 20, stampInk[mood]).text(
        clean(word),
        { x: MARGIN, y: MARGIN },
        { width: WIDTH, align: "right" },
      );
      doc.y = y;
    },
  };
}

/** Shares of the width, as lengths. */
function wide(widths: readonly number[]): readonly number[] {
  const total = widths.reduce((sum, width) => sum + width, 0);
  return widths.map((width) => (width / total) * WIDTH);
}

/** A table does not begin with a head alone at the foot of a page. */
const HEAD_AND_ROW = 44;

const cellOf = (widths: readonly number[], i: number) => ({
  width: (widths[i] ?? 0) - 6,
  align: i === 0 ? ("left" as const) : ("right" as const),
});

function heightOf(write: Pen, widths: readonly number[], cells: readonly string[], face: Face): number {
  const ink = write(face, 9, INK);
  return Math.max(...cells.map((text, i) => ink.heightOf(text, cellOf(widths, i)))) + 8;
}

function drawCells(
  doc: Doc,
  write: Pen,
  {
    widths,
    cells,
    face,
  }: { readonly widths: readonly number[]; readonly cells: readonly string[]; readonly face: Face },
): void {
  const height = heightOf(write, widths, cells, face);
  const ink = write(face, 9, face === "bold" ? FAINT : INK);
  const top = doc.y;
  let x = MARGIN;
  for (const [i, text] of cells.entries()) {
    ink.text(text, { x, y: top }, cellOf(widths, i));
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

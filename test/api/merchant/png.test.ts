import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import PDFDocument from "pdfkit";
import { describe, expect, it } from "vitest";
import { readPng } from "../../../api/merchant/png.ts";
import { chunk, png } from "../../support/png.ts";

/** Draws it as a receipt does; rejects where the library cannot. */
function draw(bytes: Buffer): Promise<number> {
  return new Promise((done, failed) => {
    const doc = new PDFDocument();
    let size = 0;
    doc.on("data", (part: Buffer) => {
      size += part.length;
    });
    doc.on("end", () => done(size));
    doc.on("error", failed);
    doc.image(bytes, 0, 0);
    doc.end();
  });
}

describe("a picture", () => {
  it.each([0, 2, 3, 4, 6])("of colour type %i is kept as it is, and can be drawn", async (colourType) => {
    const given = png({ width: 5, height: 3, colourType });
    expect(readPng(given)?.equals(given)).toBe(true);
    expect(await draw(given)).toBeGreaterThan(500);
  });

  it("loses what is no picture: text, time, place", () => {
    const given = png({ width: 2, height: 2, colourType: 6 });
    const [head, rest] = [given.subarray(0, 33), given.subarray(33)];
    const spoken = Buffer.concat([head, chunk("tEXt", Buffer.from("Author\0somebody")), rest]);
    expect(readPng(spoken)?.equals(given)).toBe(true);
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["text", Buffer.from("<svg onload=alert(1)>")],
    ["a signature alone", Buffer.from("89504e470d0a1a0a", "hex")],
    ["one that is too wide", png({ width: 1_025, height: 1, colourType: 0 })],
    ["one of 16 bits", png({ width: 2, height: 2, colourType: 0, bits: 16 })],
    ["an interlaced one", png({ width: 2, height: 2, colourType: 0, interlace: 1 })],
    ["an unknown colour type", png({ width: 2, height: 2, colourType: 5 })],
    ["one without its palette", png({ width: 2, height: 2, colourType: 3, palette: Buffer.alloc(0) })],
    ["one of an unknown filter", png({ width: 2, height: 2, colourType: 0, filter: 5 })],
    ["one with too few rows", png({ width: 2, height: 9, colourType: 0, rows: 2 })],
    ["one with too many", png({ width: 2, height: 2, colourType: 0, rows: 3 })],
    [
      "one that unpacks to a house",
      png({ width: 2, height: 2, colourType: 0, data: deflateSync(Buffer.alloc(50_000_000)) }),
    ],
    ["one that says it is huge", png({ width: 2 ** 31 - 1, height: 2 ** 31 - 1, colourType: 6, rows: 1 })],
    ["two behind one another", Buffer.concat([png({}), png({})])],
    ["one with something behind it", Buffer.concat([png({}), Buffer.from("<script>")])],
  ])("%s is none", (_, bytes) => {
    expect(readPng(bytes)).toBeNull();
  });

  it("with any bytes changed is none, or one that can be drawn", async () => {
    const given = png({ width: 9, height: 4, colourType: 3 });
    const changes = fc.array(fc.tuple(fc.nat(given.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, async (places) => {
        const changed = Buffer.from(given);
        for (const [at, byte] of places) changed[at] = byte;
        const read = readPng(mended(changed));
        if (read) await draw(read);
      }),
      { numRuns: 400 },
    );
  });
});

/** The same with sums that fit, so that what lies behind them is looked at. */
function mended(bytes: Buffer): Buffer {
  const out = Buffer.from(bytes);
  for (let at = 8; at + 12 <= out.length; ) {
    const end = at + 8 + out.readUInt32BE(at);
    if (end + 4 > out.length) break;
    out.writeUInt32BE(crc32(out.subarray(at + 4, end)), end);
    at = end + 4;
  }
  return out;
}

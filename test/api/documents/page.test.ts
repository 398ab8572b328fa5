import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import { expect, it, vi } from "vitest";
import { openSheet } from "../../../api/documents/page.ts";
import { png } from "../../support/png.ts";

const options = { title: "Receipt", at: new Date(0), head: { zone: "UTC", colour: null, png: null } };

/** One of its own, that no other file of this worker has drawn with. */
async function freshPage(): Promise<{ readonly openSheet: typeof openSheet }> {
  const source = "../../../api/documents/page.ts?fresh";
  return import(source);
}

it("draws the next document when what it draws with could not be read for one", async () => {
  const { openSheet } = await freshPage();
  vi.doMock("fontkit", () => {
    throw new Error("too many open files");
  });
  await expect(openSheet(options)).rejects.toThrow();
  vi.doUnmock("fontkit");
  const sheet = await openSheet(options);
  sheet.paragraph("paid");
  expect(
    Buffer.from(await sheet.end())
      .subarray(0, 5)
      .toString(),
  ).toBe("%PDF-");
});

it("draws the same bytes, whenever the pixels of its picture are read", async () => {
  const head = { ...options.head, png: png({ width: 120, height: 40, colourType: 6, value: 90 }) };
  const drawn = async () => {
    const sheet = await openSheet({ ...options, head });
    for (let i = 0; i < 100; i += 1) sheet.paragraph("paid");
    return sheet.end();
  };
  const atOnce = await drawn();
  // what pixels are read by has something else to do
  const busy = Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)("", "", 200_000, 64, "sha512")));
  const late = await drawn();
  await busy;
  expect(Buffer.compare(late, atOnce)).toBe(0);
});

it.each([
  ["that no font has", "\u{13000}".repeat(100)],
  ["of two fonts in turn", "a漢".repeat(100)],
])(
  "leaves the process to others while it draws letters %s",
  async (_, name) => {
    const rows = Array.from({ length: 40 }, () => [name, "1", "$1.00"]);
    const drawn = async () => {
      const sheet = await openSheet(options);
      sheet.table([6, 1, 2], [["Item", "Quantity", "Total"], ...rows]);
      return sheet.end();
    };
    await drawn(); // with the fonts read
    const began = performance.now();
    const longest = await longestHold(() => Promise.all([drawn(), drawn()]));
    // Drawn in one go, each of the two would take half; the fonts of each are embedded in one go.
    expect(longest).toBeLessThan((performance.now() - began) * 0.4);
  },
  30_000,
);

/** Milliseconds in which nothing else could be done. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const look = () => {
    const now = performance.now();
    [last, longest] = [now, Math.max(longest, now - last)];
  };
  const timer = setInterval(look, 5);
  await work();
  clearInterval(timer);
  look();
  return longest;
}

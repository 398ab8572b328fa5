/** Names in letters that the sheet's own fonts lack, as a reader of the PDF finds them. */
import { describe, expect, it } from "vitest";
import { openSheet, type Sheet } from "../../../api/documents/page.ts";
import { pagesOfPdf, photographPdf } from "../../support/pdf.ts";

const options = { title: "Invoice 1", at: new Date(0), head: { zone: "UTC", colour: null, png: null } };
async function drawn(draw: (sheet: Sheet) => void) {
  const sheet = await openSheet(options);
  draw(sheet);
  return sheet.end();
}
const linesOf = async (bytes: Uint8Array) => (await pagesOfPdf(bytes)).flat();

describe("letters beyond the sheet's fonts", () => {
  const draw = (sheet: Sheet) => {
    sheet.title("Invoice", "山田商店 · 東京, JP");
    sheet.row("Name", "王小明 (Wang Xiaoming)");
    sheet.row("Address", "서울특별시 중구 세종대로 110\n臺北市信義區");
    sheet.table(
      [6, 2],
      [
        ["Description", "Amount"],
        ["プレミアム緑茶 100 g", "12.50 USD"],
      ],
    );
    sheet.paragraph("ありがとうございます。");
  };

  it("of Chinese, Japanese and Korean are drawn, each time the same", async () => {
    const bytes = await drawn(draw);
    await photographPdf(bytes, "letters");
    const lines = await linesOf(bytes);
    for (const line of [
      "山田商店 · 東京, JP",
      "Name 王小明 (Wang Xiaoming)",
      "Address 서울특별시 중구 세종대로 110",
      "臺北市信義區",
      "プレミアム緑茶 100 g 12.50 USD",
      "ありがとうございます。",
    ])
      expect(lines).toContain(line);
    expect(Buffer.compare(await drawn(draw), bytes)).toBe(0);
  });

  it("that no font has are named by their number", async () => {
    const lines = await linesOf(await drawn((sheet) => sheet.row("Name", "สม 王 🧀")));
    expect(lines).toEqual(["Name [U+0E2A][U+0E21] 王 [U+1F9C0]"]);
  });

  it("are broken into lines that stay on the page, and onto the next one", async () => {
    const text = "緑茶は体によい。".repeat(40);
    const bytes = await drawn((sheet) => {
      sheet.row("Name", text);
      for (let i = 0; i < 20; i += 1) sheet.paragraph(text);
    });
    const pages = await pagesOfPdf(bytes);
    expect(pages.length).toBeGreaterThan(1);
    const lines = pages.flatMap((page) => page.slice(0, -1));
    expect(lines.join("").replace("Name", "").replaceAll(" ", "")).toBe(text.repeat(21));
    expect(lines.filter((line) => line.startsWith("。"))).toEqual([]);
  });
});

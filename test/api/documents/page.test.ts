import { expect, it, vi } from "vitest";
import { openSheet } from "../../../api/documents/page.ts";

it("draws the next document when what it draws with could not be read for one", async () => {
  vi.doMock("fontkit", () => {
    throw new Error("too many open files");
  });
  const options = { title: "Receipt", at: new Date(0), head: { zone: "UTC", colour: null, png: null } };
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

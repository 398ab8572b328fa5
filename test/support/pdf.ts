import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pictureFile } from "./pictures.ts";

/** For people to look at, where pictures are asked for: each page as one. */
export async function photographPdf(bytes: Uint8Array, name: string): Promise<void> {
  const file = await pictureFile(`${name}.pdf`);
  if (!file) return;
  await writeFile(file, bytes);
  await promisify(execFile)("pdftoppm", ["-r", "70", "-png", file, file.slice(0, -".pdf".length)]);
}

/** The text of a PDF as poppler reads it, its white space as single spaces. */
export async function textOfPdf(bytes: Uint8Array): Promise<string> {
  return (await layoutOfPdf(bytes)).replace(/\s+/g, " ").trim();
}

/** The same, page by page, each as the lines that it has. */
export async function pagesOfPdf(bytes: Uint8Array): Promise<readonly (readonly string[])[]> {
  const pages = (await layoutOfPdf(bytes)).split("\f").slice(0, -1);
  return pages.map((page) =>
    page
      .split("\n")
      .map((line) => line.replace(/\s+/g, " ").trim())
      .filter((line) => line !== ""),
  );
}

async function layoutOfPdf(bytes: Uint8Array): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "farebox-pdf-"));
  try {
    const file = join(dir, "document.pdf");
    await writeFile(file, bytes);
    const { stdout } = await promisify(execFile)("pdftotext", ["-layout", "-enc", "UTF-8", file, "-"]);
    return stdout;
  } finally {
    await rm(dir, { recursive: true });
  }
}

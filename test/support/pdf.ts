import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const folder = join(import.meta.dirname, "../../.farebox/screenshots");

/** For people to look at: each page as a picture. */
export async function photographPdf(bytes: Uint8Array, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.pdf`);
  await writeFile(file, bytes);
  await promisify(execFile)("pdftoppm", ["-r", "70", "-png", file, join(folder, name)]);
}

/** The text of a PDF as poppler reads it, its white space as single spaces. */
export async function textOfPdf(bytes: Uint8Array): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "farebox-pdf-"));
  try {
    const file = join(dir, "document.pdf");
    await writeFile(file, bytes);
    const { stdout } = await promisify(execFile)("pdftotext", ["-layout", "-enc", "UTF-8", file, "-"]);
    return stdout.replace(/\s+/g, " ").trim();
  } finally {
    await rm(dir, { recursive: true });
  }
}

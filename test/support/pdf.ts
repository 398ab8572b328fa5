import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

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

/** Pictures of pages and documents for people to look at: `PICTURES=1 npm test`. No test asks for what they show, and to
 *  paint long pages takes minutes. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../.farebox/screenshots");

/** Where a picture of this name goes; null where nobody wants one. */
export async function pictureFile(name: string): Promise<string | null> {
  if (!process.env.PICTURES) return null;
  await mkdir(folder, { recursive: true });
  return join(folder, name);
}

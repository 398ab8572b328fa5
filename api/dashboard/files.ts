import type { Context } from "hono";
import { fault } from "../http/faults.ts";
import { demandLength, filledIn } from "../http/manners.ts";

const FORM = "multipart/form-data";

/** Whether a form carries files. */
export function hasFiles(c: Context): boolean {
  return (c.req.header("content-type") ?? "").toLowerCase().startsWith(FORM);
}

/** The fields of such a form, in their order: a file is a `data:` link, as the API takes pictures. Those left empty are left
 *  out. Faults: `body_too_large`, `validation_failed` for what is no such form, and for a NUL. */
export async function readWithFiles(
  c: Context,
  limit: number,
): Promise<readonly (readonly [name: string, value: string])[]> {
  demandLength(c, limit);
  const form = await c.req.formData().catch((cause) => {
    throw fault("validation_failed", {}, cause);
  });
  const fields = [...form].map(
    async ([name, value]) => [name, typeof value === "string" ? value : await asLink(value)] as const,
  );
  return filledIn(await Promise.all(fields));
}

/** No file was chosen where it is empty. */
async function asLink(file: File): Promise<string> {
  if (file.size === 0) return "";
  return `data:${file.type};base64,${Buffer.from(await file.arrayBuffer()).toString("base64")}`;
}

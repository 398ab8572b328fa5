/** Writes the generated pages of `docs/reference`; a test compares them with the code. */
import { writeFile } from "node:fs/promises";
import { errorReference, eventReference, eventSchemas, stateReference } from "#api";

const pages = {
  "errors.md": errorReference(),
  "events.md": eventReference(),
  "events.schema.json": eventSchemas(),
  "payment-states.md": stateReference(),
};
for (const [name, text] of Object.entries(pages))
  await writeFile(new URL(`../docs/reference/${name}`, import.meta.url), text);

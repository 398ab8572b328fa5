/** Writes the generated pages of `docs/reference`; a test compares them with the code. */
import { writeFile } from "node:fs/promises";
import { errorReference } from "#api";

await writeFile(new URL("../docs/reference/errors.md", import.meta.url), errorReference());

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutants } from "./mutants/mutants.ts";

const engine = join(import.meta.dirname, "../../facilitator");

it.each(mutants)("the mutant $name fits the engine as it is", ({ changes }) => {
  for (const { file, from } of changes)
    expect(readFileSync(join(engine, file), "utf8").split(from)).toHaveLength(2);
});

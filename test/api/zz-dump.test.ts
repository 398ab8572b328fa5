import { writeFileSync } from "node:fs";
import { it } from "vitest";
import { world } from "./world.ts";
it("dumps", async () => {
  const { app } = world();
  writeFileSync("/tmp/manners/openapi.json", await (await app.request("/openapi.json")).text());
});

import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { eventReference, eventSchemas } from "#api";
import { describedFamilies } from "../../../api/events.ts";
import { world } from "../world.ts";

const types = describedFamilies().flatMap((family) => family.types);
const read = (name: string) => readFile(new URL(`../../../docs/reference/${name}`, import.meta.url), "utf8");

describe("docs/reference", () => {
  it("has the events that the code tells; `npm run reference` writes it anew", async () => {
    expect(await read("events.md")).toBe(eventReference());
    expect(await read("events.schema.json")).toBe(eventSchemas());
  });

  it("names every type once, and has a schema for each in which every reference leads somewhere", () => {
    const named = [...eventReference().matchAll(/^\| `([\w.]+)` \|$/gm)].map(([, type]) => type);
    expect(named).toEqual(types);
    expect(new Set(types).size).toBe(types.length);
    const { oneOf, $defs } = JSON.parse(eventSchemas());
    expect(oneOf.map(({ $ref }: { $ref: string }) => $ref)).toEqual(types.map((type) => `#/$defs/${type}`));
    for (const [, name] of eventSchemas().matchAll(/"\$ref": "#\/\$defs\/([^"]+)"/g))
      expect(Object.keys($defs)).toContain(decodeURIComponent(name ?? ""));
  });
});

describe("GET /openapi.json", () => {
  it("has every event as a webhook", async () => {
    const document = (await (await world().app.request("/openapi.json")).json()) as {
      webhooks: Record<string, unknown>;
    };
    expect(Object.keys(document.webhooks)).toEqual(types);
  });
});

/** How schemas become rows and examples. */
import { describe, expect, it } from "vitest";
import type { Document, Schema } from "../../../api/reference/document.ts";
import { shapeOf } from "../../../api/reference/fields.ts";
import { pretty } from "../../../api/reference/pretty.ts";
import { sample } from "../../../api/reference/sample.ts";

const schemas: Readonly<Record<string, Schema>> = {
  Money: {
    type: "object",
    properties: {
      amount: { type: "string", pattern: "^\\d+$", example: "12" },
      asset: { enum: ["USDC", "EURC"] },
    },
    required: ["amount", "asset"],
  },
  Tree: {
    type: "object",
    properties: {
      name: { type: "string" },
      leaves: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
    },
    required: ["name", "leaves"],
  },
  "a/b": { type: "string", maxLength: 4 },
};
const document: Document = {
  info: { title: "T", version: "1" },
  servers: [],
  tags: [],
  paths: {},
  components: { schemas },
};
const shape = (schema: Schema) => shapeOf(document, schema);
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe("the words of a type", () => {
  it.each<readonly [string, Schema]>([
    ["string", { type: "string" }],
    ["string, date-time or null", { type: ["string", "null"], format: "date-time" }],
    ["Money", ref("Money")],
    ["Money or null", { allOf: [ref("Money"), { type: ["object", "null"] }] }],
    ["list of Money", { type: "array", items: ref("Money") }],
    [
      "map of list of integer",
      { type: "object", additionalProperties: { type: "array", items: { type: "integer" } } },
    ],
    ["object", { type: "object", additionalProperties: {} }],
    ["object", { allOf: [ref("Money"), { properties: { fee: ref("Money") } }] }],
    ["string or integer", { type: ["string", "integer"] }],
    ["Money or null", { oneOf: [ref("Money"), { type: "null" }] }],
    ["one of several or null", { oneOf: [ref("Money"), { type: "string" }, { type: "null" }] }],
    ["anything", {}],
    ["string", ref("a~1b")],
  ])("%s", (words, schema) => {
    expect(shape(schema).type).toBe(words);
  });
});

describe("the rows of a schema", () => {
  it("has members in their order, with what is asked of each", () => {
    const [amount, asset] = shape({ type: "array", items: ref("Money"), minItems: 1, maxItems: 5 }).fields;
    expect(amount).toMatchObject({
      name: "amount",
      isRequired: true,
      rules: [
        { words: "matches", code: "^\\d+$" },
        { words: "such as", code: '"12"' },
      ],
    });
    expect(asset).toMatchObject({ name: "asset", type: "string", values: ["USDC", "EURC"] });
  });

  it.each<readonly [Schema, readonly string[]]>([
    [{ minLength: 1, maxLength: 4 }, ["1 to 4 characters"]],
    [{ maxLength: 4 }, ["at most 4 characters"]],
    [{ minimum: 0 }, ["at least 0"]],
    [{ minimum: 3, maximum: 3 }, ["3"]],
    [{ exclusiveMinimum: 0, multipleOf: 5 }, ["more than 0", "a multiple of 5"]],
    [{ minItems: 1, uniqueItems: true }, ["at least 1 items", "all different"]],
    [
      { type: "array", maxItems: 2, items: { maxLength: 9 } },
      ["at most 2 items", "each at most 9 characters"],
    ],
    [{ default: "x" }, ['default "x"']],
  ])("%j", (schema, expected) => {
    expect(shape(schema).rules.map(({ words, code }) => (code ? `${words} ${code}` : words))).toEqual(
      expected,
    );
  });

  it("lays what allOf adds over what was there", () => {
    const of = shape({
      allOf: [
        ref("Money"),
        { properties: { asset: { enum: ["EURC"], description: "One" }, fee: ref("Money") } },
      ],
    });
    expect(of.fields.map(({ name, isRequired, values }) => [name, isRequired, values])).toEqual([
      ["amount", true, []],
      ["asset", true, ["EURC"]],
      ["fee", false, []],
    ]);
  });

  it("tells choices apart, null among the types", () => {
    const { choices } = shape({ anyOf: [ref("Money"), { type: "null" }, { type: "string" }] });
    expect(choices.map(({ type }) => type)).toEqual(["Money", "string"]);
  });

  it("names what contains itself, and goes round once", () => {
    const [, leaves] = shape(ref("Tree")).fields;
    expect(leaves).toMatchObject({ name: "leaves", type: "list of Tree", fields: [] });
  });
});

describe("an example of a schema", () => {
  it("has what is required, or all of it", () => {
    const of = {
      type: "object",
      properties: { a: ref("Money"), b: { type: ["string", "null"] } },
      required: ["a"],
    };
    expect(sample(document, of, "least")).toEqual({ a: { amount: "12", asset: "USDC" } });
    expect(sample(document, of, "whole")).toEqual({ a: { amount: "12", asset: "USDC" }, b: null });
  });

  it("shows one member of what asks for none", () => {
    const of = { type: "object", properties: { city: { type: "string" }, name: { type: "string" } } };
    expect(sample(document, of, "least")).toEqual({ city: "…" });
  });

  it("keeps to bounds, formats and the values that a later part leaves", () => {
    expect(sample(document, { type: "integer", minimum: 300 }, "least")).toBe(300);
    expect(sample(document, { type: "integer", maximum: 0, minimum: -5 }, "least")).toBe(0);
    expect(sample(document, { type: "string", format: "date" }, "least")).toBe("2026-08-11");
    const narrowed = { allOf: [{ type: "string", example: "a" }, { enum: ["b"] }] };
    expect(sample(document, narrowed, "least")).toBe("b");
  });

  it("ends where a schema contains itself", () => {
    expect(sample(document, ref("Tree"), "whole")).toEqual({ name: "…", leaves: [null] });
  });
});

describe("JSON as it is set", () => {
  it("stays on a line while it fits", () => {
    expect(pretty({ a: [1, "b", null], c: {} })).toBe('{ "a": [1, "b", null], "c": {} }');
    const long = { first: "x".repeat(30), second: ["y".repeat(30)] };
    expect(pretty(long).split("\n")).toHaveLength(4);
    expect(JSON.parse(pretty(long))).toEqual(long);
  });
});

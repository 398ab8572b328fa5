/** Compares shapes of the interface with a schema of the OpenAPI document, and with what a live answer says. */
import { type FieldType, items, type Shape } from "./shapes.ts";

export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}
export type Schemas = Readonly<Record<string, Schema>>;

/** Every field that the schema lacks or has under another type, by its path; none means that it conforms. */
export function schemaProblems(schemas: Schemas, schema: Schema, shape: Shape, at = ""): readonly string[] {
  const branches = resolved(schemas, schema);
  return Object.entries(shape).flatMap(([field, type]) => {
    const path = `${at}/${field}`;
    const found = branches.flatMap(({ properties }) => properties?.[field] ?? []);
    if (found.length === 0) return [`${path} is missing`];
    return found.flatMap((each) => fieldProblems(schemas, each, type, path));
  });
}

function fieldProblems(schemas: Schemas, schema: Schema, type: FieldType, path: string): readonly string[] {
  if (typeof type === "object") return schemaProblems(schemas, schema, type, path);
  const branches = resolved(schemas, schema);
  if (type.endsWith("[]")) {
    const of = branches.flatMap((branch) => (branch.items ? [branch.items] : []));
    if (of.length === 0) return [`${path} is no list`];
    const shape = items[type.slice(0, -2)];
    return shape ? of.flatMap((each) => schemaProblems(schemas, each, shape, `${path}/0`)) : [];
  }
  const wanted = type === "timestamp" ? "string" : type;
  const types = branches.flatMap(typesOf).filter((each) => each !== "null");
  const strangers = types.filter((each) => each !== wanted);
  return types.length > 0 && strangers.length === 0 ? [] : [`${path} is ${types.join("|") || "nothing"}`];
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.type !== undefined) return typeof schema.type === "string" ? [schema.type] : schema.type;
  const values = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  return values.map((value) => (value === null ? "null" : typeof value));
}

/** A schema without references and unions: the branches that it may be. */
function resolved(schemas: Schemas, schema: Schema): readonly Schema[] {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if ($ref) return resolved(schemas, schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  const parts = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])];
  const own = schema.properties || schema.type || schema.enum || schema.const !== undefined ? [schema] : [];
  return [...own, ...parts.flatMap((part) => resolved(schemas, part))];
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every field that an answer lacks or has under another type. A field that has no value yet is null, never absent. */
export function answerProblems(answer: unknown, shape: Shape, at = ""): readonly string[] {
  if (answer === null) return [];
  if (typeof answer !== "object") return [`${at} is no object`];
  return Object.entries(shape).flatMap(([field, type]) => {
    const path = `${at}/${field}`;
    if (!(field in answer)) return [`${path} is missing`];
    return valueProblems((answer as Record<string, unknown>)[field], type, path);
  });
}

function valueProblems(value: unknown, type: FieldType, path: string): readonly string[] {
  if (value === null) return [];
  if (typeof type === "object") return answerProblems(value, type, path);
  if (type.endsWith("[]")) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    const shape = items[type.slice(0, -2)];
    return shape ? value.flatMap((each, i) => answerProblems(each, shape, `${path}/${i}`)) : [];
  }
  if (type === "timestamp") return TIMESTAMP.test(String(value)) ? [] : [`${path} is no timestamp`];
  const fits = type === "integer" ? Number.isInteger(value) : typeof value === type;
  return fits ? [] : [`${path} is ${typeof value}`];
}

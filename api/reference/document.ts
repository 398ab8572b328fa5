/** The OpenAPI document, as far as the reference reads it: what `GET /openapi.json` answers, and nothing beside it. */
import { assert } from "#kernel/fault";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}
export interface Reference {
  readonly $ref: string;
}
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}
export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Reference | Example>>;
}
export interface Example {
  readonly value: unknown;
}
export type Content = Readonly<Record<string, Media>>;
export interface Header {
  readonly description?: string;
  readonly schema?: Schema;
}
export interface Answer {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Reference | Header>>;
  readonly content?: Content;
}
export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly (Reference | Parameter)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly "x-permission"?: string;
}
type Methods = Readonly<Record<string, Operation>>;
export interface Document {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly "x-guidance"?: string;
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Methods>>;
  readonly webhooks?: Readonly<Record<string, Methods>>;
  readonly components: {
    readonly securitySchemes?: Readonly<Record<string, { readonly description?: string }>>;
    readonly examples?: Readonly<Record<string, Example>>;
    readonly schemas?: Readonly<Record<string, Schema>>;
  };
}

/** What a reference leads to; anything else as it is. */
export function follow<T extends object>(document: Document, of: T | Reference): T {
  let found: unknown = of;
  for (let steps = 0; isReference(found); steps++) {
    assert(steps < 20, `${found.$ref} leads in a circle`);
    found = at(document, found.$ref);
  }
  return found as T;
}

function isReference(of: unknown): of is Reference {
  return typeof of === "object" && of !== null && "$ref" in of && typeof of.$ref === "string";
}

function at(document: Document, reference: string): unknown {
  assert(reference.startsWith("#/"), `${reference} is in another document`);
  const steps = reference.slice(2).split("/").map(unescaped);
  const found = steps.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    document,
  );
  assert(found !== undefined, `${reference} leads nowhere`);
  return found;
}

/** A step of a JSON pointer in a URI fragment. Source: RFC 6901 §6. */
function unescaped(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The name of a component that a reference leads to. */
export function nameOf(reference: string): string {
  return unescaped(reference.slice(reference.lastIndexOf("/") + 1));
}

export function parametersOf(document: Document, { parameters = [] }: Operation): readonly Parameter[] {
  return parameters
    .map((each) => follow<Parameter>(document, each))
    .map((each) => (each.in === "header" ? { ...each, name: capital(each.name) } : each));
}

/** Names of headers come in lower case from the schemas that read them. */
function capital(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase());
}

/** The document as a book: a chapter for each tag, its operations in the order in which they are described. */
import type { Answer, Document, Operation } from "./document.ts";

export interface Call {
  /** Of its place on the page. */
  readonly anchor: string;
  readonly method: string;
  readonly path: string;
  readonly title: string;
  readonly operation: Operation;
}
/** Events whose requests are alike but for their type. */
export interface Family {
  readonly anchor: string;
  readonly types: readonly string[];
  readonly operation: Operation;
}
export interface Chapter {
  readonly slug: string;
  readonly title: string;
  readonly about: string;
  readonly calls: readonly Call[];
  readonly families: readonly Family[];
}
/** A refusal that the document has an example of. */
export interface Refusal {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
}

/** Pages that are no chapter. */
export const OVERVIEW = "";
export const ERRORS = "errors";

export function addressOf(slug: string): string {
  return slug === OVERVIEW ? "/docs" : `/docs/${slug}`;
}

export function chaptersOf(document: Document): readonly Chapter[] {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(method, path, operation)),
  );
  const families = familiesOf(document);
  const of = <T extends { readonly operation: Operation }>(all: readonly T[], tag: string) =>
    all.filter(({ operation }) => operation.tags?.includes(tag));
  return document.tags.map(({ name, description = "" }) => ({
    slug: slugOf(name),
    title: titleOf(name),
    about: description,
    calls: of(calls, name),
    families: of(families, name),
  }));
}

function callOf(method: string, path: string, operation: Operation): Call {
  const title = operation.summary ?? path;
  return { anchor: operation.operationId, method: method.toUpperCase(), path, title, operation };
}

function familiesOf({ webhooks = {} }: Document): readonly Family[] {
  const alike = new Map<string, { types: string[]; operation: Operation }>();
  for (const [type, { post: operation }] of Object.entries(webhooks)) {
    if (!operation) continue;
    const key = JSON.stringify(operation).replaceAll(JSON.stringify(type), "");
    const family = alike.get(key) ?? { types: [], operation };
    family.types.push(type);
    alike.set(key, family);
  }
  return [...alike.values()].map(({ types, operation }) => ({
    anchor: `events-${slugOf(kindOf(types))}`,
    types,
    operation: ofAny(types, operation),
  }));
}

/** The first event's request, with every type where it has its own. */
function ofAny(types: readonly string[], operation: Operation): Operation {
  return JSON.parse(
    JSON.stringify(operation).replaceAll(JSON.stringify(types.slice(0, 1)), JSON.stringify(types)),
  );
}

/** What the events of a family are about: `payment` of `payment.completed`. */
export function kindOf(types: readonly string[]): string {
  return types[0]?.replace(/\.[^.]+$/, "") ?? "";
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** A heading begins with a capital; the name of the protocol has none. */
function titleOf(name: string): string {
  return name.startsWith("x402") ? name : name.charAt(0).toUpperCase() + name.slice(1);
}

/** Every refusal with a code, by status. */
export function refusalsOf({ components }: Document): readonly Refusal[] {
  return Object.values(components.examples ?? {})
    .flatMap(({ value }) => (isRefusal(value) ? [value] : []))
    .sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
}

function isRefusal(value: unknown): value is Refusal {
  const { code, status, title, detail } = (value ?? {}) as Partial<Record<keyof Refusal, unknown>>;
  return typeof status === "number" && [code, title, detail].every((text) => typeof text === "string");
}

const PROBLEM = "application/problem+json";

/** The codes that an answer refuses with; null for an answer of another kind. */
export function codesOf({ content = {} }: Answer): readonly string[] | null {
  const [type, ...others] = Object.keys(content);
  return type === PROBLEM && others.length === 0 ? Object.keys(content[PROBLEM]?.examples ?? {}) : null;
}

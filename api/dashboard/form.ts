import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ZodError } from "zod";
import { Fault } from "#kernel/fault";
import { asPublic, fault } from "../http/faults.ts";
import { readFields } from "../http/manners.ts";
import { writtenAmount } from "../http/money.ts";
import { type FieldError, fieldErrors, pointed } from "../http/problem.ts";
import { hasFiles, readWithFiles } from "./files.ts";
import { plainly } from "./plain.ts";
import type { Readings } from "./readings.ts";

const LIMIT = 64 * 1_024;
const MAX_ITEMS = 200;

/** What a form sent, by the names of its fields. A name is a path with dots: `amount.asset` is the member `asset` of the
 *  member `amount`, `lines.0.name` the name of the first line, and `permissions[]` a list of what was chosen. So a form
 *  comes to the body that the API takes, and a problem's pointer to the field that it is about. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Faults: `unsupported_media_type`, `body_too_large`, `validation_failed`. */
export function readPosted(c: Context): Promise<Fields> {
  return hasFiles(c) ? readWithFiles(c, LIMIT) : readFields(c, LIMIT);
}

/** The last value of a field; undefined when it was left empty. */
export function fieldOf(fields: Fields, name: string): string | undefined {
  return fields.findLast(([each]) => each === name)?.[1];
}

/** How the text of a field becomes what the API's body has there, by the field's name; `*` stands for a place in a list. */
export type Readers = Readonly<Record<string, (text: string) => unknown>>;

/** The body of a form, without the fields of the shell, as this schema reads it. `readers` turn single texts into members;
 *  `readings` make one of all that was sent by a name, also of nothing. Fault: `validation_failed`. */
export function parseFields<S extends z.ZodType>(
  schema: S,
  fields: Fields,
  readers: Readers = {},
  readings: Readings = {},
): z.output<S> {
  return parseQuery(schema, bodyOf(fields, readers, readings));
}

/** What an address asks for, as this schema reads it. Fault: `validation_failed`. */
export function parseQuery<S extends z.ZodType>(schema: S, query: unknown): z.output<S> {
  const found = schema.safeParse(query);
  if (found.success) return found.data;
  throw fault("validation_failed", {}, found.error);
}

/** The id in a path, as its feature takes it. What cannot be one is the id of nothing. Fault: `not_found`. */
export function pathAs<S extends z.ZodType>(schema: S, id: string | undefined): z.output<S> {
  const found = schema.safeParse({ id });
  if (found.success) return found.data;
  throw fault("not_found");
}

/** What the address of a list asks for; what was left empty is left out. */
export function askedOf<N extends string>(c: Context, names: readonly N[]): Partial<Record<N, string>> {
  const given = names.map((name) => [name, c.req.query(name)?.trim() ?? ""] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== "")) as Partial<Record<N, string>>;
}

/** Names of the shell's own fields: the session's token, the key that makes a form count once, and the list that was asked
 *  for more rows. */
export const CSRF = "csrf";
export const ONCE = "once";
export const MORE = "more";
const own: readonly string[] = [CSRF, ONCE, MORE];

type Body = { [name: string]: unknown };

/** The members that a form sent, as text where nothing says otherwise. */
function bodyOf(fields: Fields, readers: Readers = {}, readings: Readings = {}): Body {
  const body: Body = {};
  for (const [name, text] of fields) {
    if (own.includes(name) || Object.hasOwn(readings, name)) continue;
    const read = readers[name.replaceAll(/\.\d+(?=\.|$)/g, ".*")];
    put(body, name, read ? read(text) : isAmount(name) ? writtenAmount(text.trim()) : text);
  }
  for (const [name, reading] of Object.entries(readings)) {
    const value = reading(fields.filter(([each]) => each === name).map(([, text]) => text));
    if (value !== undefined) put(body, name, value);
  }
  return body;
}

const isAmount = (name: string) => /(?:^|\.)amount$/.test(name);

function put(body: Body, name: string, value: unknown): void {
  const isList = name.endsWith("[]");
  const steps = (isList ? name.slice(0, -2) : name).split(".");
  const last = steps.pop() ?? "";
  let at: Body = body;
  for (const [i, step] of steps.entries()) at = stepInto(at, step, steps[i + 1] ?? last);
  if (isList) add(at, last, value);
  else define(at, last, value);
}

/** To the list of this name. */
function add(at: Body, name: string, value: unknown): void {
  const there = Object.hasOwn(at, name) ? at[name] : undefined;
  const list: readonly unknown[] = Array.isArray(there) ? there : [];
  if (list.length >= MAX_ITEMS) throw fault("validation_failed");
  define(at, name, [...list, value]);
}

function stepInto(at: Body, step: string, next: string): Body {
  const there = Object.hasOwn(at, step) ? at[step] : undefined;
  if (typeof there === "object" && there !== null) return there as Body;
  const made = (/^\d+$/.test(next) ? [] : {}) as Body;
  define(at, step, made);
  return made;
}

/** Own members only, whatever they are called; a list has no holes to fill beyond its bound. */
function define(at: Body, name: string, value: unknown): void {
  if (Array.isArray(at) && !(Number(name) < MAX_ITEMS)) throw fault("validation_failed");
  Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Why a form was not taken, for the page to say it where it belongs. */
export interface Refused {
  /** Where the form was sent. */
  readonly path: string;
  /** Null where nothing was wrong: its sender asked for more rows. */
  readonly code: string | null;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly { readonly name: string; readonly detail: string }[];
  /** As they were sent. */
  readonly fields: Fields;
}

/** What the sender of a form can do something about, apart from what went wrong here. */
export function errorsOf(seen: Fault): Refused["errors"] {
  const { cause } = seen;
  const found: readonly FieldError[] =
    cause instanceof ZodError ? fieldErrors(cause.issues) : pointed(asPublic(seen));
  return found.map(({ pointer, detail: text }) => ({
    name: nameOf(pointer),
    detail: plainly(text),
  }));
}

function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Whether a fault is for the sender to mend. */
export function isTheirs(error: unknown): error is Fault {
  return error instanceof Fault && error.kind !== "bug" && error.kind !== "unavailable";
}

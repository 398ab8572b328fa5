import { isUtf8 } from "node:buffer";
import type { Context, MiddlewareHandler } from "hono";
import { fault } from "./faults.ts";

/** Bounds of any JSON that we read. Source: security.md §8. */
const MAX_DEPTH = 32;
const MAX_KEYS = 200;
const MAX_VALUES = 10_000;

const BODY_LIMIT = 256 * 1_024;
export const PAYMENT_BODY_LIMIT = 32 * 1_024;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const COLON = 58;

/** JSON as we take it: no key twice, no `__proto__`, bounded depth and width, no NUL or half a surrogate pair in any
 *  string, no number beyond a double. Fault: `invalid_json` with the reason. */
export function parseStrict(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse(whyUnread(text));
  }
  // Of a key that comes twice, JSON.parse keeps one.
  if (countWritten(text) !== countKeys(value)) throw refuse("an object has one key twice");
  return value;
}

/** An editor shows nothing of a mark or of blanks. */
function whyUnread(text: string): string {
  if (text.trim() === "") return "it is empty";
  return text.startsWith("\ufeff") ? "it begins with a byte order mark" : "it is malformed";
}

function refuse(why: string) {
  return fault("invalid_json", { why });
}

/** One pass over text that JSON.parse has accepted, for what its result no longer shows. Returns how many keys are
 *  written in it. */
function countWritten(text: string): number {
  const hasEscapes = text.includes("\\");
  let [keys, values, depth] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = hasEscapes ? endOfString(text, at) : text.indexOf('"', at + 1);
      if (hasEscapes) checkString(text.slice(at, end + 1));
      values += 1;
      at = end;
    } else if (code === COLON) {
      keys += 1; // what was read as a value before it
      values -= 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
      if (depth > MAX_DEPTH) throw refuse(`it is nested deeper than ${MAX_DEPTH} levels`);
      values += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth -= 1;
    } else if (code !== COMMA && code > 32) {
      at = endOfLiteral(text, at);
      values += 1;
    }
    if (values > MAX_VALUES) throw refuse(`it holds more than ${MAX_VALUES} values`);
  }
  return keys;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text.charCodeAt(from - 1) === BACKSLASH) from -= 1;
  return (at - from) % 2 === 1;
}

/** Only an escape can bring these in: bytes that are valid UTF-8 hold no lone surrogate, JSON no bare NUL. */
function checkString(quoted: string): void {
  if (!quoted.includes("\\")) return;
  const content = JSON.parse(quoted) as string;
  if (content.includes("\0")) throw refuse("a string holds a NUL character");
  if (/\p{Surrogate}/u.test(content)) throw refuse("a string holds half of a surrogate pair");
}

/** Of all objects in a value that is not nested too deeply. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countKeys(element);
    return count;
  }
  const members = value as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(members, "__proto__")) throw refuse("the key __proto__ is not allowed");
  const keys = Object.keys(members);
  if (keys.length > MAX_KEYS) throw refuse(`an object has more than ${MAX_KEYS} keys`);
  for (const key of keys) count += countKeys(members[key]);
  return count + keys.length;
}

/** Last character of a number, `true`, `false` or `null`. */
function endOfLiteral(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && /[\w.+-]/.test(text.charAt(end))) end += 1;
  const literal = text.slice(start, end);
  if (/^[-\d]/.test(literal) && !Number.isFinite(Number(literal))) throw refuse("a number is out of range");
  return end - 1;
}

export const JSON_TYPE = "application/json";

/** Whether a Content-Type names JSON. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "");
}

/** The body as text: at most `limit` bytes, valid UTF-8. Faults: `body_too_large`, `invalid_json`,
 *  `unsupported_media_type` for one that is compressed. */
export async function readText(request: Request, limit: number): Promise<string> {
  const coding = request.headers.get("content-encoding") ?? "";
  if (!/^(?:identity)?$/i.test(coding))
    throw fault("unsupported_media_type", { type: `${JSON_TYPE}, not compressed` });
  const bytes = await readBytes(request, limit);
  if (!isUtf8(bytes)) throw refuse("it is not UTF-8");
  return bytes.toString("utf8");
}

/** The body exactly as it was sent, at most `limit` bytes. Fault: `body_too_large`. */
export async function readBytes(request: Request, limit: number): Promise<Buffer> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > limit) throw fault("body_too_large", { limit });
  const bytes =
    announced === null ? await readBounded(request, limit) : Buffer.from(await request.arrayBuffer());
  if (bytes.length > limit) throw fault("body_too_large", { limit });
  return bytes;
}

/** A body of unannounced length is read piece by piece, so that it cannot fill the memory. */
async function readBounded(request: Request, limit: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > limit) throw fault("body_too_large", { limit });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Reads and checks a JSON body before any schema sees it. Where there is none, schemas see an empty object: where it may be
 *  left out that has its defaults, elsewhere its fields are missing. */
export function strictJson(limit = BODY_LIMIT): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") await checkBody(c, limit);
    await next();
  };
}

async function checkBody(c: Context, limit: number): Promise<void> {
  const text = await readText(c.req.raw, limit);
  const { headers } = c.req.raw;
  const isCalledJson = isJson(headers.get("content-type") ?? undefined);
  if (text !== "" && isCalledJson) parseStrict(text);
  // What nothing is called does not matter, many clients call it a form. Of the ways to write the type of JSON, validators
  // know some.
  if (text === "" || isCalledJson) headers.set("content-type", JSON_TYPE);
  keepBody(c, text === "" ? "{}" : text);
}

/** Validators read the body from hono's cache, since the stream is spent. Its type says text, it holds promises. */
function keepBody(c: Context, text: string): void {
  (c.req.bodyCache as unknown as { text?: Promise<string> }).text = Promise.resolve(text);
}

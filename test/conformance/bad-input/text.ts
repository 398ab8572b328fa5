import { inText, type Row } from "./row.ts";

const json = { status: 400, code: "invalid_json", reason: "invalid_payload" } as const;

/** Puts `member` first into the object that begins with `opening`. */
const within = (opening: string, member: string) =>
  inText((text) => text.replace(opening, `${opening}${member},`));
const anywhere = (member: string) => within("{", member);
const authorization = '"authorization":{';
const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

const broken: readonly Row[] = [
  { name: "no body", change: () => "" },
  { name: "half a body", change: inText((text) => text.slice(0, text.length / 2)) },
  { name: "something behind the body", change: inText((text) => `${text}x`) },
  { name: "two bodies", change: inText((text) => text + text) },
  { name: "a byte order mark", change: inText((text) => `\ufeff${text}`) },
  { name: "single quotes", change: inText((text) => text.replaceAll('"', "'")) },
  { name: "a comment", change: inText((text) => `/* pay */${text}`) },
  { name: "a trailing comma", change: inText((text) => `${text.slice(0, -1)},}`) },
  { name: "NaN", change: anywhere('"note":NaN') },
  { name: "a form", change: () => "paymentPayload=1" },
  {
    name: "bytes that are not UTF-8",
    change: inText((text) => Buffer.from(`${text.slice(0, -1)},"\xff":1}`, "latin1")),
  },
  { name: "UTF-16", change: inText((text) => Buffer.from(text, "utf16le")) },
].map((row) => ({ ...json, ...row, name: `text: ${row.name}` }));

const tricky: readonly Row[] = [
  { name: "a key twice", change: anywhere('"x402Version":2') },
  { name: "a signed field twice", change: within(authorization, '"value":"1"') },
  { name: "a signed field twice, once escaped", change: within(authorization, '"\\u0076alue":"1"') },
  { name: "__proto__", change: anywhere('"__proto__":{"isValid":true}') },
  {
    name: "__proto__, escaped, deep inside",
    change: within(authorization, '"\\u005f_proto__":{"value":"1"}'),
  },
  { name: "33 levels", change: anywhere(`"note":${arrays(32)}`) },
  { name: "201 keys", change: anywhere(`"note":{${Array.from({ length: 201 }, (_, i) => `"k${i}":0`)}}`) },
  { name: "more than 10,000 values", change: anywhere(`"note":[${Array(10_001).fill(0)}]`) },
  { name: "a NUL", change: anywhere('"note":"a\\u0000b"') },
  { name: "a NUL in a key", change: anywhere('"a\\u0000b":1') },
  { name: "half of a surrogate pair", change: anywhere('"note":"\\ud83d"') },
  { name: "the other half, in the nonce", change: within(authorization, '"nonce ":"\\udc00"') },
  { name: "a number beyond a double", change: anywhere('"note":1e400') },
].map((row) => ({ ...json, ...row, name: `text: ${row.name}` }));

const large: readonly Row[] = [
  {
    name: "text: more than 32 KiB",
    status: 413,
    code: "body_too_large",
    reason: "invalid_payload",
    change: inText((text) => text + " ".repeat(32 * 1_024)),
  },
  {
    name: "text: a payload of more than 16,384 characters",
    reason: "invalid_payload",
    change: within('"payload":{', `"note":"${"a".repeat(16_384)}"`),
  },
];

const strangeTypes: readonly Row[] = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "",
].map((type) => ({
  name: `text: Content-Type "${type}"`,
  status: 415,
  code: "unsupported_media_type",
  reason: "invalid_payload",
  change: (good) => good,
  headers: { "Content-Type": type },
}));

/** What cannot be read, or only in two ways. The engine never sees it. */
export const textRows: readonly Row[] = [...broken, ...tricky, ...large, ...strangeTypes];

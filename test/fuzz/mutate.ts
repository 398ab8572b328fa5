/** A value made wrong in one place, and JSON text that is wrong itself. */
import fc from "fast-check";

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** What bites: sizes, signs, spellings, code points, names that mean something to a language. */
const nasty: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  -0.5,
  2 ** 53,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00x",
  "\u202eabc",
  "\u200b",
  "ﬁ１２３",
  "١٠٠",
  "💸".repeat(40),
  "-1",
  "+1",
  "1e400",
  "1E5",
  "0x10",
  "00012",
  "1_000",
  "1,5",
  ".5",
  "NaN",
  "Infinity",
  "9".repeat(400),
  "0.0000000000000000000000000001",
  "a".repeat(10_000),
  "'; DROP TABLE claim; --",
  "%00",
  "%E0%A4%A",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:60Z",
  "+275760-09-13T00:00:00.000Z",
  "2026-02-30",
  "http://[::1]:80/",
  "http://0x7f000001/",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "https://user:pass@h.example/",
  "http://\u0000/",
  [],
  {},
  [[]],
  [null],
  { amount: "1", asset: "USD", __proto: {} },
  JSON.parse(deep(40)),
];
export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...nasty) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  { weight: 1, arbitrary: fc.bigInt().map(String) },
);
export const nastyText: fc.Arbitrary<string> = nastyValue.map((value) =>
  typeof value === "string" ? value : JSON.stringify(value),
);

/** For a URL, which has no bytes for half a surrogate pair. */
export const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One place in the value, chosen by the numbers, replaced, removed, doubled or added to. */
export function mutated(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const where = fc.array(fc.nat(11), { minLength: 1, maxLength: 5 });
  const how = fc.constantFrom("replace", "replace", "replace", "remove", "add", "wrap");
  return fc.tuple(values, where, how, nastyValue).map(([value, path, act, evil]) => {
    switch (act) {
      case "add":
        return added(value, path, evil);
      case "wrap":
        return changed(value, path, (inner) => [inner]);
      case "remove":
        return changed(value, path, () => undefined);
      default:
        return changed(value, path, () => evil);
    }
  });
}

function changed(value: unknown, path: readonly number[], change: (was: unknown) => unknown): unknown {
  const [step = 0, ...rest] = path;
  if (Array.isArray(value) && value.length > 0) {
    const at = step % value.length;
    return value.map((inner, i) => (i === at ? next(inner, rest, change) : inner));
  }
  if (!isMembers(value) || Object.keys(value).length === 0) return change(value);
  const key = Object.keys(value)[step % Object.keys(value).length] ?? "";
  return { ...value, [key]: next(value[key], rest, change) };
}

function next(inner: unknown, rest: readonly number[], change: (was: unknown) => unknown): unknown {
  return rest.length === 0 ? change(inner) : changed(inner, rest, change);
}

function added(value: unknown, path: readonly number[], evil: unknown): unknown {
  return changed(value, path, (inner) => (isMembers(inner) ? { ...inner, extra: evil } : evil));
}

/** JSON that says the value, spoilt as text or bytes. */
export function spoiltText(values: fc.Arbitrary<unknown>): fc.Arbitrary<string | Buffer> {
  const kinds = fc.constantFrom(
    "cut",
    "twice",
    "bom",
    "nul",
    "latin",
    "deep",
    "wide",
    "big-number",
    "proto",
    "noise",
    "empty",
    "huge",
  );
  return fc.tuple(values, kinds, fc.nat(1_000)).map(([value, kind, n]) => {
    const text = JSON.stringify(value) ?? "null";
    const spoilt: Readonly<Record<typeof kind, () => string | Buffer>> = {
      cut: () => text.slice(0, n % (text.length + 1)),
      twice: () => text.replace(/^\{"([^"]*)":/, '{"$1":null,"$1":'),
      bom: () => `\ufeff${text}`,
      nul: () => `${text.slice(0, n % text.length)}\u0000${text.slice(n % text.length)}`,
      latin: () => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
      deep: () => deep(n * 20),
      wide: () => `{${Array.from({ length: n }, (_, i) => `"k${i}":${i}`).join(",")}}`,
      "big-number": () => text.replace(/:"?[\w.]+"?/, `:${"9".repeat(1 + (n % 400))}`),
      proto: () => text.replace(/^\{/, '{"__proto__":{"isAdmin":true},'),
      noise: () => Buffer.from(Array.from({ length: n % 64 }, (_, i) => (n * (i + 7)) % 256)),
      empty: () => "",
      huge: () => JSON.stringify({ text: "x".repeat(n * 400) }),
    };
    return spoilt[kind]();
  });
}

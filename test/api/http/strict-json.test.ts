import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "#kernel/fault";
import { isJson, parseStrict, readText } from "../../../api/http/strict-json.ts";

function why(text: string): unknown {
  try {
    parseStrict(text);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.code).toBe("invalid_json");
    return error.context.why;
  }
}

describe("strict JSON", () => {
  it("reads everything that JSON.stringify writes", () => {
    const value = fc.jsonValue({ depthSize: "medium" });
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        fc.pre(!text.includes('"__proto__"') && !/\\u(?:0000|d[89a-f])/i.test(text));
        expect(parseStrict(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses a key that comes twice, at any depth and however it is spelt", () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '[{"b":{"a":1,"c":[],"a":2}}]',
      '{"a":{"x":1},"b":2,"a":3}',
      '{"":1,"":2}',
      '{"a\\"":1,"a\\"":2}',
    ])
      expect(why(text)).toBe("an object has one key twice");
  });

  it("takes one key in two objects, and a key that looks like a value", () => {
    expect(parseStrict('{"a":{"a":["a","a",{"a":"a"}]},"b":"a"}')).toEqual({
      a: { a: ["a", "a", { a: "a" }] },
      b: "a",
    });
  });

  it("refuses __proto__ as a key, spelt out or escaped, and leaves the prototype alone", () => {
    expect(why('{"__proto__":{"polluted":true}}')).toBe("the key __proto__ is not allowed");
    expect(why('{"\\u005f_proto__":{"polluted":true}}')).toBe("the key __proto__ is not allowed");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(parseStrict('{"a":"__proto__"}')).toEqual({ a: "__proto__" });
  });

  it("bounds depth, keys and values", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(why(nested(32))).toBeNull();
    expect(why(nested(33))).toMatch(/deeper than 32/);
    const keyed = (keys: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i])));
    expect(why(keyed(200))).toBeNull();
    expect(why(keyed(201))).toMatch(/more than 200 keys/);
    const values = (count: number) =>
      `[${Array(count - 1)
        .fill(0)
        .join(",")}]`;
    expect(why(values(10_000))).toBeNull();
    expect(why(values(10_001))).toMatch(/more than 10000 values/);
  });

  it("refuses what the database could not store", () => {
    expect(why('{"a":"x\\u0000y"}')).toMatch(/NUL/);
    expect(why('{"a":"\\ud800"}')).toMatch(/surrogate/);
    expect(why('{"\\udc00":1}')).toMatch(/surrogate/);
    expect(parseStrict('"\\ud83d\\ude00"')).toBe("😀");
  });

  it("refuses numbers that a double cannot hold, and text that is not JSON", () => {
    expect(why('{"a":1e400}')).toMatch(/out of range/);
    expect(why("[-1E+999]")).toMatch(/out of range/);
    for (const text of ["{", "[1,]", "{'a':1}", "NaN", "01", '{"a":1}x'])
      expect(why(text)).toBe("it is malformed");
  });

  it("says of text that a reader would take for good what is wrong with it", () => {
    expect(why("\ufeff{}")).toBe("it begins with a byte order mark");
    for (const text of ["", " \n"]) expect(why(text)).toBe("it is empty");
  });
});

describe("a body", () => {
  const limit = 16;
  const request = (body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
    new Request("http://x/", { method: "POST", body, headers, duplex: "half" } as RequestInit);
  const streamed = (...pieces: string[]) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });

  it("of announced or unannounced length is read up to the limit", async () => {
    expect(await readText(request("0123456789abcdef", { "content-length": "16" }), limit)).toBe(
      "0123456789abcdef",
    );
    expect(await readText(request(streamed("01234567", "89abcdef")), limit)).toBe("0123456789abcdef");
  });

  it("above the limit is refused, whether it announced that or not", async () => {
    const tooLarge = { code: "body_too_large" };
    await expect(readText(request("x", { "content-length": "17" }), limit)).rejects.toMatchObject(tooLarge);
    await expect(readText(request(streamed("01234567", "89abcdef", "!")), limit)).rejects.toMatchObject(
      tooLarge,
    );
    await expect(
      readText(request("0123456789abcdefg", { "content-length": "3" }), limit),
    ).rejects.toMatchObject(tooLarge);
  });

  it("that is not UTF-8 is refused, not repaired", async () => {
    const bytes = new Uint8Array([0x22, 0xff, 0x22]);
    await expect(readText(request(bytes), limit)).rejects.toMatchObject({ code: "invalid_json" });
  });

  it("that is compressed is refused as what it is, not for its bytes", async () => {
    const compressed = (coding: string) => request(gzipSync("{}"), { "content-encoding": coding });
    for (const coding of ["gzip", "BR", "gzip, identity"])
      await expect(readText(compressed(coding), 64)).rejects.toMatchObject({
        code: "unsupported_media_type",
        detail: "Send the body as application/json, not compressed.",
      });
    for (const coding of ["identity", "Identity", ""])
      expect(await readText(request("{}", { "content-encoding": coding }), limit)).toBe("{}");
  });

  it("is JSON by its media type", () => {
    for (const type of ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
      expect(isJson(type)).toBe(true);
    for (const type of [undefined, "text/plain", "application/jsonx", "text/json", "multipart/form-data"])
      expect(isJson(type)).toBe(false);
  });
});

import { Hono } from "hono";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Fields, parseFields, readPosted } from "../../../api/dashboard/form.ts";
import { asJson } from "../../../api/dashboard/readings.ts";

const Body = z.object({ permissions: z.array(z.string()).optional(), lines: z.array(z.any()).optional() });
const read = (fields: Fields) => parseFields(Body, fields);
const chosen = (count: number) => Array.from({ length: count }, (_, i) => ["permissions[]", `${i}`] as const);

it("takes two hundred of one list, and refuses more before it has put them together", () => {
  expect(read(chosen(200)).permissions).toHaveLength(200);
  expect(() => read(chosen(201))).toThrow(expect.objectContaining({ code: "validation_failed" }));
  expect(read([["lines.199.name", "the last"]]).lines).toHaveLength(200);
  expect(() => read([["lines.200.name", "one more"]])).toThrow(
    expect.objectContaining({ code: "validation_failed" }),
  );
});

it.each([
  ["half of a surrogate pair", '{"title":"\\ud800"}'],
  ["NUL", '{"title":"\\u0000"}'],
  ["one key twice", '{"type":"a","type":"b"}'],
  ["more levels than anybody needs", `{"a":${"[".repeat(33)}${"]".repeat(33)}}`],
])("leaves JSON with %s as the text that it is, for the schema to refuse", (_, text) => {
  expect(asJson([text])).toBe(text);
  expect(asJson(['{"title":"a"}'])).toEqual({ title: "a" });
});

it.each(["a form", "a form with files"])(
  "takes no NUL in %s, and leaves out what was left empty",
  async (kind) => {
    const app = new Hono().post("/", async (c) => c.json(await readPosted(c)));
    app.onError((error, c) => c.text(error.message, 400));
    const post = async (note: string) => {
      const fields = kind === "a form" ? new URLSearchParams() : new FormData();
      for (const [name, value] of Object.entries({ note, name: "" })) fields.append(name, value);
      const written = new Response(fields);
      const body = await written.arrayBuffer();
      const type = written.headers.get("content-type") ?? "";
      const headers = { "content-type": type, "content-length": String(body.byteLength) };
      return app.request("/", { method: "POST", body, headers });
    };
    expect(await (await post("a")).json()).toEqual([["note", "a"]]);
    expect((await post("a\0b")).status).toBe(400);
  },
);
